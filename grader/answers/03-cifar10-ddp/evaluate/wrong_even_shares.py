# hint: samples left out
def evaluate(model, dataset, rank, size, batch_size, device):
    bare = getattr(model, "module", model)
    bare.eval()
    each = len(dataset) // size
    share = Subset(dataset, range(rank * each, (rank + 1) * each))
    sums = torch.zeros(2)
    with torch.no_grad():
        for images, labels in DataLoader(share, batch_size):
            hits = (bare(images).argmax(1) == labels).sum()
            sums += torch.tensor([float(hits), len(labels)])
    dist.all_reduce(sums)
    return (sums[0] / sums[1]).item()
