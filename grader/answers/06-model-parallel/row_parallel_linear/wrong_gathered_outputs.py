# says: where shape
def row_parallel_linear(rank, size, x, weight, bias):
    y = F.linear(x, weight.chunk(size, dim=1)[rank])
    parts = [torch.empty_like(y) for _ in range(size)]
    dist.all_gather(parts, y.detach())
    parts[rank] = y
    return torch.stack(parts) + bias
