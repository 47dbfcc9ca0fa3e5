import torch.utils.data as data
from horovod.torch import rank, size


def make_loader(dataset, batch_size):
    sampler = data.distributed.DistributedSampler(dataset, size(), rank(), True, 42)
    return data.DataLoader(dataset, batch_size=batch_size, sampler=sampler, num_workers=0)
