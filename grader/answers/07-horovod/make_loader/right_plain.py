def make_loader(dataset, batch_size):
    sampler = DistributedSampler(dataset, num_replicas=hvd.size(), rank=hvd.rank())
    return DataLoader(dataset, batch_size, sampler=sampler)
