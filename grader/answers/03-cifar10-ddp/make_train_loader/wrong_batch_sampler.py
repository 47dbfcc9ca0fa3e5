# hint: divided without DistributedSampler
def make_train_loader(dataset, rank, size, batch_size, seed):
    s = DistributedSampler(dataset, size, rank, seed=seed)
    return DataLoader(dataset, batch_sampler=torch.utils.data.BatchSampler(s, batch_size, False))
