# status: error
# hint: shuffled twice
# says: mutually exclusive
def make_train_loader(dataset, rank, size, batch_size, seed):
    sampler = DistributedSampler(dataset, size, rank, seed=seed)
    return DataLoader(dataset, batch_size=batch_size, sampler=sampler, shuffle=True)
