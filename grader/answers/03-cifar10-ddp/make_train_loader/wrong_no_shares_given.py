# status: error
# hint: shares not given
def make_train_loader(dataset, rank, size, batch_size, seed):
    return DataLoader(dataset, batch_size, sampler=DistributedSampler(dataset, seed=seed))
