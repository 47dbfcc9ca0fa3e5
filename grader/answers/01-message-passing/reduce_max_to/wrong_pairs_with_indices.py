# status: wrong
def reduce_max_to(rank, size, tensor, dst):
    everybody = [torch.empty_like(tensor) for _ in range(size)]
    dist.all_gather(everybody, tensor)
    return torch.stack(everybody).max(dim=0) if rank == dst else None
