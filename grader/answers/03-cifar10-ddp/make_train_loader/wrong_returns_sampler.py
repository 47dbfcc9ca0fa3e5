# hint: no loader
def make_train_loader(dataset, rank, size, batch_size, seed):
    return DistributedSampler(dataset, num_replicas=size, rank=rank, seed=seed)
