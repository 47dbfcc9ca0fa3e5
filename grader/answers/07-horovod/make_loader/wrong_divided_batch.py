# hint: wrong batch size
def make_loader(dataset, batch_size):
    sampler = DistributedSampler(dataset, num_replicas=hvd.size(), rank=hvd.rank())
    return DataLoader(dataset, max(batch_size // hvd.size(), 1), sampler=sampler)
