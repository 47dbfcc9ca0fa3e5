def train_epoch(model, loader, optimizer, epoch):
    model.train()
    loader.sampler.set_epoch(epoch)
    total, n = 0.0, 0
    for x, y in loader:
        optimizer.zero_grad()
        each = F.nll_loss(model(x), y, reduction="none")
        each.backward(torch.full_like(each, 1 / len(each)))
        optimizer.step()
        total += each.sum().item()
        n += len(each)
    return hvd.allreduce(torch.tensor(total / n), name="l").item()
