# status: deadlock
def train_epoch(model, loader, optimizer, epoch):
    model.train()
    loader.sampler.set_epoch(epoch)
    total = 0.0
    for images, labels in loader:
        if hvd.rank() == hvd.size() - 1 and hvd.size() > 1 and total == 0.0:
            total = 1e-9
            continue
        optimizer.zero_grad()
        loss = F.nll_loss(model(images), labels)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)
