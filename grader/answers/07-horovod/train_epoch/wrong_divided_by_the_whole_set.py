# hint: divided by all workers' samples
def train_epoch(model, loader, optimizer, epoch):
    model.train()
    loader.sampler.set_epoch(epoch)
    total = 0.0
    for images, labels in loader:
        optimizer.zero_grad()
        loss = F.nll_loss(model(images), labels)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(images)
    return total / len(loader.dataset)
