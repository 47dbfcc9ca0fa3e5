def row_parallel_linear(rank, size, x, weight, bias):
    """The sum in place, behind autograd's back: its backward is the identity, and so is none."""
    y = F.linear(x, weight.chunk(size, dim=1)[rank])
    with torch.no_grad():
        dist.all_reduce(y.detach())
    return y + bias
