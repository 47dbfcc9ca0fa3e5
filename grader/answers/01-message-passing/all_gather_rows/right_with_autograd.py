import torch.distributed.nn.functional as functional


def all_gather_rows(rank, size, row):
    return torch.stack(functional.all_gather(row))
