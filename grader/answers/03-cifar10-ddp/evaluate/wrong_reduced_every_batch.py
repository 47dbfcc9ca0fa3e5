# hint: a count or percent
def evaluate(model, dataset, rank, size, batch_size, device):
    bare = getattr(model, "module", model)
    bare.eval()
    share = Subset(dataset, range(rank, len(dataset), size))
    correct = torch.zeros(1)
    for images, labels in DataLoader(share, batch_size):
        correct += (bare(images).argmax(1) == labels).sum()
        dist.all_reduce(correct)
    return correct.item() / len(dataset)
