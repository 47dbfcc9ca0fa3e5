def train_epoch(model, loader, optimizer, epoch):
    """The mean over all workers at once."""
    model.train()
    loader.sampler.set_epoch(epoch)
    losses = []
    for images, labels in loader:
        optimizer.zero_grad()
        loss = nn.NLLLoss()(model(images), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return hvd.allreduce(torch.stack(losses).mean(), name="train_loss").item()
