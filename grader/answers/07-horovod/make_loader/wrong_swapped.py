# status: error
# says: rank
def make_loader(dataset, batch_size):
    sampler = DistributedSampler(dataset, num_replicas=hvd.rank(), rank=hvd.size())
    return DataLoader(dataset, batch_size, sampler=sampler)
