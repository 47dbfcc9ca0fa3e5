import torch.utils.data as tud


def make_train_loader(dataset, rank, size, batch_size, seed):
    sampler = tud.distributed.DistributedSampler(
        dataset, num_replicas=size, rank=rank, seed=seed, drop_last=False
    )
    return tud.DataLoader(
        dataset=dataset, sampler=sampler, batch_size=batch_size, shuffle=False, drop_last=False,
        pin_memory=torch.cuda.is_available(),
    )
