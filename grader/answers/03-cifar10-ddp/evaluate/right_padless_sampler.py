def evaluate(model, dataset, rank, size, batch_size, device):
    net = model.module if isinstance(model, DistributedDataParallel) else model
    net.eval()
    mine = [i for i in range(len(dataset)) if i % size == rank]
    right = 0
    with torch.inference_mode():
        for x, y in DataLoader(dataset, batch_size, sampler=mine):
            right += int((net(x.to(device)).argmax(1).cpu() == y).sum())
    everybody = [None] * size
    dist.all_gather_object(everybody, right)
    return sum(everybody) / len(dataset)
