# hint: no loader
# says: left 'list' in the loader
def make_loader(dataset, batch_size):
    sampler = DistributedSampler(dataset, num_replicas=hvd.size(), rank=hvd.rank())
    return list(DataLoader(dataset, batch_size=batch_size, sampler=sampler))
