class Shares(DistributedSampler):
    pass


def make_train_loader(dataset, rank, size, batch_size, seed):
    print("rank", rank, "of", size)
    options = dict(num_replicas=size, rank=rank, shuffle=True, seed=seed)
    return DataLoader(dataset, batch_size=batch_size, sampler=Shares(dataset, **options))
