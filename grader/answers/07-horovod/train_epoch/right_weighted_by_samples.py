import torch.nn.functional as functional


def train_epoch(model, loader, optimizer, epoch):
    loader.sampler.set_epoch(epoch)
    model.train(True)
    total, seen = 0.0, 0
    for x, y in loader:
        loss = functional.cross_entropy(model(x), y)  # of log-probabilities: the same
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += float(loss) * len(y)
        seen += len(y)
    return total / seen
