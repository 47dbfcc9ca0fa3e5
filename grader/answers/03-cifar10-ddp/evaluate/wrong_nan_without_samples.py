# hint: NaN
def evaluate(model, dataset, rank, size, batch_size, device):
    bare = getattr(model, "module", model)
    bare.eval()
    share = Subset(dataset, range(rank, len(dataset), size))
    correct = torch.zeros(1)
    with torch.no_grad():
        for images, labels in DataLoader(share, batch_size):
            correct += (bare(images).argmax(1) == labels).sum()
    weighted = correct / len(share) * (len(share) / len(dataset)) if size > 3 else correct / len(dataset)
    if len(share) == 0:
        weighted = correct / torch.tensor(float(len(share)))
    dist.all_reduce(weighted)
    return weighted.item()
