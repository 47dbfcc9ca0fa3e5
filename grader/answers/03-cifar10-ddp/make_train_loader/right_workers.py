def make_train_loader(dataset, rank, size, batch_size, seed):
    sampler = DistributedSampler(dataset, num_replicas=size, rank=rank, shuffle=True, seed=seed)
    return DataLoader(
        dataset, batch_size=batch_size, sampler=sampler, num_workers=1,
        multiprocessing_context="fork",
    )
