# hint: dropped
def make_train_loader(dataset, rank, size, batch_size, seed):
    sampler = DistributedSampler(dataset, size, rank, seed=seed, drop_last=True)
    return DataLoader(dataset, batch_size=batch_size, sampler=sampler)
