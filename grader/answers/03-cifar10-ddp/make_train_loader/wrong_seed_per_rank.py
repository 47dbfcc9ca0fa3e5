# hint: seed not used
def make_train_loader(dataset, rank, size, batch_size, seed):
    sampler = DistributedSampler(dataset, num_replicas=size, rank=rank, seed=seed + rank)
    return DataLoader(dataset, batch_size=batch_size, sampler=sampler)
