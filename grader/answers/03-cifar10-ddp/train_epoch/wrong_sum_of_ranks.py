# hint: sum over ranks
def train_epoch(model, loader, optimizer, device, epoch):
    model.train()
    loader.sampler.set_epoch(epoch)
    total, n = 0.0, 0
    for images, labels in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(labels)
        n += len(labels)
    mean = torch.tensor(total / n, dtype=torch.float64)
    dist.all_reduce(mean)
    return mean.item()
