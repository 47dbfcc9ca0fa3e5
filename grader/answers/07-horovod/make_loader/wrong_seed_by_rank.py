# hint: orders differ
def make_loader(dataset, batch_size):
    sampler = DistributedSampler(
        dataset, num_replicas=hvd.size(), rank=hvd.rank(), seed=hvd.rank()
    )
    return DataLoader(dataset, batch_size=batch_size, sampler=sampler)
