# hint: learning rate changed
def train_epoch(model, loader, optimizer, device, epoch):
    model.train()
    loader.sampler.set_epoch(epoch)
    total = torch.zeros(2, device=device)
    for images, labels in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        total[0] += loss.detach() * len(labels)
        total[1] += len(labels)
    dist.all_reduce(total)
    for group in optimizer.param_groups:
        group["lr"] *= 0.5
    return (total[0] / total[1]).item()
