# hint: shape or dtype
def same_everywhere(rank, size, tensors):
    sums = [t.detach().to(torch.complex128).abs().sum() for t in tensors]
    mine = torch.tensor([float(sum(sums)) + len(tensors)], dtype=torch.float64)
    low, high = mine.clone(), mine.clone()
    dist.all_reduce(low, op=dist.ReduceOp.MIN)
    dist.all_reduce(high, op=dist.ReduceOp.MAX)
    return bool(low == high)
