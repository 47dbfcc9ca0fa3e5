# says: not for a collective
def relay(rank, size, tensor):
    everybody = [torch.empty_like(tensor) for _ in range(size)]
    dist.all_gather(everybody, tensor)
    return sum(everybody[1 : rank + 1], everybody[0])
