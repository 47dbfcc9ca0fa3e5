# hint: divided by the dataset
def train_epoch(model, loader, optimizer, device, epoch):
    loader.sampler.set_epoch(epoch)
    model.train()
    total = torch.zeros(1, device=device)
    for images, labels in loader:
        loss = F.cross_entropy(model(images.to(device)), labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(labels)
    dist.all_reduce(total)
    return (total / len(loader.dataset)).item()
