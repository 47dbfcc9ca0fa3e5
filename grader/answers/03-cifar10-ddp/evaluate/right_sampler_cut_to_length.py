class Unpadded(DistributedSampler):
    def __init__(self, dataset, size, rank):
        super().__init__(dataset, num_replicas=size, rank=rank, shuffle=False)

    def __iter__(self):
        return iter(range(self.rank, len(self.dataset), self.num_replicas))

    def __len__(self):
        return len(range(self.rank, len(self.dataset), self.num_replicas))


def evaluate(model, dataset, rank, size, batch_size, device):
    model.eval()
    inner = getattr(model, "module", model)
    print("rank", rank, "evaluates")
    loader = DataLoader(dataset, batch_size, sampler=Unpadded(dataset, size, rank))
    counted = torch.zeros(2, dtype=torch.long, device=device)
    for images, labels in loader:
        with torch.no_grad():
            counted[0] += inner(images.to(device)).argmax(1).eq(labels.to(device)).sum()
        counted[1] += labels.size(0)
    dist.all_reduce(counted, dist.ReduceOp.SUM)
    return counted[0].item() / counted[1].item()
