# hint: places too
def reduce_max_to(rank, size, tensor, dst):
    parts = [torch.zeros_like(tensor) for _ in range(size)]
    dist.all_gather(parts, tensor)
    return torch.stack(parts).max(dim=0) if rank == dst else None
