# hint: set_epoch forgotten
def train_epoch(model, loader, optimizer, epoch):
    model.train()
    total = 0.0
    for images, labels in loader:
        loader.sampler.set_epoch(epoch)
        optimizer.zero_grad()
        loss = F.nll_loss(model(images), labels)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)
