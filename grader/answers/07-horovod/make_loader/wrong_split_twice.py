# hint: divided twice
def make_loader(dataset, batch_size):
    mine = torch.utils.data.Subset(dataset, range(hvd.rank(), len(dataset), hvd.size()))
    sampler = DistributedSampler(mine, num_replicas=hvd.size(), rank=hvd.rank())
    return DataLoader(mine, batch_size=batch_size, sampler=sampler)
