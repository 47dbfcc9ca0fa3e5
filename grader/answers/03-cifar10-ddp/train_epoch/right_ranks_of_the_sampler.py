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
    mine = torch.tensor([total, count], dtype=torch.float64, device=device)
    parts = [torch.empty_like(mine) for _ in range(loader.sampler.num_replicas)]
    dist.all_gather(parts, mine)
    total, count = torch.stack(parts).sum(0).tolist()
    return total / count
