# hint: each rank its own
def evaluate(model, dataset, rank, size, batch_size, device):
    bare = getattr(model, "module", model)
    bare.eval()
    share = Subset(dataset, range(rank, len(dataset), size))
    correct = 0
    with torch.no_grad():
        for images, labels in DataLoader(share, batch_size):
            correct += (bare(images).argmax(1) == labels).sum().item()
    return correct / len(share)
