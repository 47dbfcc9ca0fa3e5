# status: error
# hint: rank and size swapped
def make_train_loader(dataset, rank, size, batch_size, seed):
    sampler = DistributedSampler(dataset, rank, size, True, seed)
    return DataLoader(dataset, batch_size=batch_size, sampler=sampler)
