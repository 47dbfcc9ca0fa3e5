def train_epoch(model, loader, optimizer, device, epoch):
    loader.sampler.set_epoch(epoch)
    model = model.train()
    criterion = nn.CrossEntropyLoss(reduction="sum")
    losses, count = 0.0, 0
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        loss = criterion(model(x), y)
        losses += loss.item()
        count += y.numel()
        (loss / y.numel()).backward()
        optimizer.step()
        optimizer.zero_grad()
    everybody = [None] * dist.get_world_size()
    dist.all_gather_object(everybody, (losses, count))
    return sum(s for s, _ in everybody) / sum(n for _, n in everybody)
