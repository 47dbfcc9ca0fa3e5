# status: error
# hint: no sample
def evaluate(model, dataset, rank, size, batch_size, device):
    bare = getattr(model, "module", model)
    bare.eval()
    share = Subset(dataset, range(rank, len(dataset), size))
    correct = total = 0
    with torch.no_grad():
        for images, labels in DataLoader(share, batch_size):
            correct += (bare(images).argmax(1) == labels).sum().item()
            total += len(labels)
    mean = torch.tensor(correct / total * len(share) / len(dataset))
    dist.all_reduce(mean)
    return mean.item()
