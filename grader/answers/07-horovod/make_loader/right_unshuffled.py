def make_loader(dataset, batch_size):
    divided = DistributedSampler(dataset, hvd.size(), hvd.rank(), shuffle=False)
    return DataLoader(dataset, sampler=divided, batch_size=batch_size, shuffle=False)
