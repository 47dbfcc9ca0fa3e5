# says: not for a collective
def exchange(rank, size, tensor):
    everybody = [torch.empty_like(tensor) for _ in range(size)]
    dist.all_gather(everybody, tensor)
    return everybody[rank ^ 1]
