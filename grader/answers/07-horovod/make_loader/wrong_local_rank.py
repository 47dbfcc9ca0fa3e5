# hint: wrong share
# says: where '0 of 2' was expected
def make_loader(dataset, batch_size):
    sampler = DistributedSampler(dataset, num_replicas=hvd.local_size(), rank=hvd.local_rank())
    return DataLoader(dataset, batch_size=batch_size, sampler=sampler)
