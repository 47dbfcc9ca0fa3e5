# hint: train mode
from torch.utils.data import DataLoader, Subset


def evaluate(model, dataset, rank, size, batch_size, device):
    bare = getattr(model, "module", model)
    bare.eval()
    for part in bare.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            part.train()
    correct = torch.zeros(1, device=device)
    own = Subset(dataset, range(rank, len(dataset), size))
    with torch.no_grad():
        for images, labels in DataLoader(own, batch_size):
            correct += (bare(images.to(device)).argmax(1) == labels.to(device)).sum()
    dist.all_reduce(correct)
    return correct.item() / len(dataset)
