# hint: whole product computed
def row_parallel_linear(rank, size, x, weight, bias):
    parts = [torch.empty_like(x) for _ in range(size)]
    dist.all_gather(parts, x.detach())
    parts[rank] = x
    return F.linear(torch.cat(parts, dim=-1), weight, bias)
