import numpy as np
def train_epoch(model, loader, optimizer, epoch):
    loader.sampler.set_epoch(epoch)
    def step(x, y):
        model.train()
        with torch.enable_grad():
            log_p = model.forward(x)
            loss = -log_p.gather(1, y.view(-1, 1)).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.item()
    optimizer.zero_grad()
    return float(np.fromiter((step(x, y) for x, y in loader), float).mean())
