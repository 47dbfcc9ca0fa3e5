# hint: wrong share
def make_loader(dataset, batch_size):
    mine = hvd.size() - 1 - hvd.rank()
    return DataLoader(dataset, batch_size, sampler=DistributedSampler(dataset, hvd.size(), mine))
