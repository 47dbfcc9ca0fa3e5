def evaluate(model, dataset, rank, size, batch_size, device):
    n = len(dataset)
    bounds = [n * r // size for r in range(size + 1)]
    share = Subset(dataset, list(range(bounds[rank], bounds[rank + 1])))
    if hasattr(model, "module"):
        model = model.module
    was = model.training
    model.train(False)
    sums = torch.zeros(2, device=device, dtype=torch.float64)
    with torch.no_grad():
        for images, labels in DataLoader(share, batch_size=batch_size, shuffle=False):
            _, guess = torch.max(model(images.to(device)), dim=1)
            sums += torch.tensor(
                [(guess == labels.to(device)).sum().item(), len(labels)], dtype=torch.float64
            ).to(device)
    dist.all_reduce(sums)
    model.train(was)
    return float(sums[0] / sums[1])
