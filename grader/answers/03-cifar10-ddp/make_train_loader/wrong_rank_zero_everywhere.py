# hint: wrong share
def make_train_loader(dataset, rank, size, batch_size, seed):
    sampler = DistributedSampler(dataset, num_replicas=size, rank=0, seed=seed)
    return DataLoader(dataset, batch_size=batch_size, sampler=sampler)
