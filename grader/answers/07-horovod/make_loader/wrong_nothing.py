# hint: no loader
def make_loader(dataset, batch_size):
    sampler = DistributedSampler(dataset, num_replicas=hvd.size(), rank=hvd.rank())
    DataLoader(dataset, batch_size, sampler=sampler)
