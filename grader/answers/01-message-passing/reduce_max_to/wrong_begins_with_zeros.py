# hint: maximum with zero
def reduce_max_to(rank, size, tensor, dst):
    everybody = [torch.empty_like(tensor) for _ in range(size)]
    dist.all_gather(everybody, tensor)
    best = torch.zeros_like(tensor)
    for other in everybody:
        best = torch.maximum(best, other)
    return best if rank == dst else None
