# hint: not shuffled
def make_train_loader(dataset, rank, size, batch_size, seed):
    sampler = DistributedSampler(dataset, size, rank, shuffle=False, seed=seed)
    return DataLoader(dataset, batch_size=batch_size, sampler=sampler)
