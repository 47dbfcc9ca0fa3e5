import torch.distributed._functional_collectives as funcol


def all_gather_rows(rank, size, row):
    group = dist.group.WORLD
    return funcol.all_gather_tensor(row.unsqueeze(0), 0, group).clone()
