@torch.no_grad()
def evaluate(model, dataset, rank, size, batch_size, device):
    model = model.module if isinstance(model, DistributedDataParallel) else model
    model.eval()
    hits = 0
    for i, (x, y) in enumerate(DataLoader(dataset, batch_size, shuffle=False)):
        if i % size == rank:
            hits += (model(x.to(device)).argmax(-1).cpu() == y).sum().item()
    everybody = [None] * size
    dist.all_gather_object(everybody, hits)
    return sum(everybody) / len(dataset)
