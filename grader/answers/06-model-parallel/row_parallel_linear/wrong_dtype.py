# hint: other dtype
def row_parallel_linear(rank, size, x, weight, bias):
    width = weight.shape[1] // size
    part = F.linear(x, weight[:, rank * width : (rank + 1) * width])
    total = part.detach().float()
    dist.all_reduce(total)
    return (part + (total - part.detach()) + bias).float()
