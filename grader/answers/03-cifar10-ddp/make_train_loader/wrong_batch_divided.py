# hint: wrong batch size
def make_train_loader(dataset, rank, size, batch_size, seed):
    sampler = DistributedSampler(dataset, num_replicas=size, rank=rank, seed=seed)
    return DataLoader(dataset, batch_size=batch_size // size or 1, sampler=sampler)
