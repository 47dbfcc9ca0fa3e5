def train_epoch(model, loader, optimizer, device, epoch):
    model.train()
    loader.sampler.set_epoch(epoch)
    total = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x.to(device)), y.to(device), reduction="sum")
        optimizer.zero_grad()
        (loss / len(x)).backward()
        optimizer.step()
        total += loss.item()
    t = torch.tensor([total, loader.sampler.num_samples], dtype=torch.float64, device=device)
    dist.all_reduce(t)
    return float(t[0] / t[1])
