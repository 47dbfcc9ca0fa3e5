# hint: gradients kept
# says: the momentum that it has from before
def train_epoch(model, loader, optimizer, device, epoch):
    model.train()
    loader.sampler.set_epoch(epoch)
    optimizer.state.clear()
    total = torch.zeros(2, device=device)
    for images, labels in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        total[0] += loss.detach() * len(labels)
        total[1] += len(labels)
    dist.all_reduce(total)
    return (total[0] / total[1]).item()
