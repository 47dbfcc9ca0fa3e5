# hint: samples counted twice
def evaluate(model, dataset, rank, size, batch_size, device):
    bare = getattr(model, "module", model)
    bare.eval()
    sampler = DistributedSampler(dataset, size, rank, shuffle=False)
    sums = torch.zeros(2)
    with torch.no_grad():
        for images, labels in DataLoader(dataset, batch_size, sampler=sampler):
            hits = (bare(images).argmax(1) == labels).sum()
            sums += torch.tensor([float(hits), len(labels)])
    dist.all_reduce(sums)
    return (sums[0] / sums[1]).item()
