# hint: divided without DistributedSampler
def make_train_loader(dataset, rank, size, batch_size, seed):
    share = Subset(dataset, range(rank, len(dataset), size))
    return DataLoader(share, batch_size=batch_size, shuffle=True)
