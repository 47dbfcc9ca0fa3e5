# hint: samples counted twice
def evaluate(model, dataset, rank, size, batch_size, device):
    bare = getattr(model, "module", model)
    bare.eval()
    sampler = DistributedSampler(dataset, size, rank, shuffle=False)
    correct = torch.zeros(1)
    with torch.no_grad():
        for images, labels in DataLoader(dataset, batch_size, sampler=sampler):
            correct += (bare(images).argmax(1) == labels).sum()
    dist.all_reduce(correct)
    return correct.item() / len(dataset)
