# status: error
# hint: module of a bare model
def evaluate(model, dataset, rank, size, batch_size, device):
    model.eval()
    share = Subset(dataset, range(rank, len(dataset), size))
    correct = torch.zeros((), device=device)
    with torch.no_grad():
        for images, labels in DataLoader(share, batch_size):
            scores = model.module(images.to(device))
            correct += (scores.argmax(1) == labels.to(device)).sum()
    dist.all_reduce(correct)
    return correct.item() / len(dataset)
