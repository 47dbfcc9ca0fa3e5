# hint: mean of ranks
def evaluate(model, dataset, rank, size, batch_size, device):
    bare = getattr(model, "module", model)
    bare.eval()
    share = Subset(dataset, range(rank, len(dataset), size))
    correct = torch.zeros(1)
    with torch.no_grad():
        for images, labels in DataLoader(share, batch_size):
            correct += (bare(images).argmax(1) == labels).sum()
    mean = correct / max(len(share), 1)
    dist.all_reduce(mean)
    return mean.item() / size
