# hint: wrong share
def make_loader(dataset, batch_size):
    sampler = DistributedSampler(dataset, num_replicas=2, rank=hvd.rank() % 2)
    return DataLoader(dataset, batch_size, sampler=sampler)
