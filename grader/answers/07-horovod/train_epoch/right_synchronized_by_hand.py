import sys


def train_epoch(model, loader, optimizer, epoch):
    def one(images, labels):
        optimizer.zero_grad()
        loss = F.nll_loss(model(images), labels)
        loss.backward()
        optimizer.synchronize()
        with optimizer.skip_synchronize():
            optimizer.step()
        print("loss", loss.item(), file=sys.stderr)
        return loss.item()

    model.train()
    loader.sampler.set_epoch(epoch)
    losses = [one(*batch) for batch in loader]
    return sum(losses) / len(losses)
