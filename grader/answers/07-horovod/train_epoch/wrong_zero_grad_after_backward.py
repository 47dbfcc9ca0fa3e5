# status: error
# says: race condition
def train_epoch(model, loader, optimizer, epoch):
    model.train()
    loader.sampler.set_epoch(epoch)
    total = 0.0
    for images, labels in loader:
        loss = F.nll_loss(model(images), labels)
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
        total += loss.item()
    return total / len(loader)
