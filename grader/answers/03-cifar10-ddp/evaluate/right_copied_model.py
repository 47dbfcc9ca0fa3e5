import copy


def evaluate(model, dataset, rank, size, batch_size, device):
    bare = model.module if isinstance(model, DistributedDataParallel) else model
    network = copy.deepcopy(bare).eval()  # the mode of the model itself stays what it was
    mine = Subset(dataset, range(rank, len(dataset), size))
    right = 0
    with torch.no_grad():
        for images, labels in DataLoader(mine, batch_size):
            found = network(images.to(device)).argmax(1)
            right += (found == labels.to(device)).sum().item()
    counts = torch.tensor([right, len(mine)], device=device)
    dist.all_reduce(counts)
    return (counts[0] / counts[1]).item()
