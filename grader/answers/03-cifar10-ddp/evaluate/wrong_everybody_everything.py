# hint: everybody evaluates everything
def evaluate(model, dataset, rank, size, batch_size, device):
    bare = getattr(model, "module", model)
    bare.eval()
    correct = 0
    with torch.no_grad():
        for images, labels in DataLoader(dataset, batch_size):
            correct += (bare(images).argmax(1) == labels).sum().item()
    return correct / len(dataset)
