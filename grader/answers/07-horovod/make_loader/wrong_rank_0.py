# hint: wrong share
def make_loader(dataset, batch_size):
    sampler = DistributedSampler(dataset, num_replicas=hvd.size(), rank=0)
    return DataLoader(dataset, batch_size, sampler=sampler)
