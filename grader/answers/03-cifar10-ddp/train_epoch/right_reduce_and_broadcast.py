from torch.distributed import ReduceOp, broadcast, reduce


def train_epoch(model, loader, optimizer, device, epoch):
    model.train()
    loader.sampler.set_epoch(epoch)
    sums = []
    for images, labels in loader:
        optimizer.zero_grad(set_to_none=True)
        losses = F.cross_entropy(model(images.to(device)), labels.to(device), reduction="none")
        losses.mean().backward()
        optimizer.step()
        sums.append(torch.stack([losses.detach().sum(), losses.new_tensor(float(len(losses)))]))
    total = torch.stack(sums).sum(0)
    reduce(total, 0, ReduceOp.SUM)
    broadcast(total, 0)
    return float(total[0] / total[1])
