# hint: gradient missing
@torch.no_grad()
def column_parallel_linear(rank, size, x, weight, bias):
    return F.linear(x, weight.chunk(size)[rank], bias.chunk(size)[rank])
