# hint: ranks drift apart
# says: a closure
def train_epoch(model, loader, optimizer, epoch):
    model.train()
    loader.sampler.set_epoch(epoch)
    losses = []
    for x, y in loader:
        def closure():
            optimizer.zero_grad()
            loss = F.nll_loss(model(x), y)
            loss.backward()
            return loss
        losses.append(optimizer.step(closure).item())
    return sum(losses) / len(losses)
