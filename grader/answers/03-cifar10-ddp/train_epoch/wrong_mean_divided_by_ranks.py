# hint: divided by ranks as well
def train_epoch(model, loader, optimizer, device, epoch):
    model.train()
    loader.sampler.set_epoch(epoch)
    total, count = 0.0, 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
        count += len(x)
    t = torch.tensor([total, count], dtype=torch.float64, device=device)
    dist.all_reduce(t)
    return (t[0] / t[1] / dist.get_world_size()).item()
