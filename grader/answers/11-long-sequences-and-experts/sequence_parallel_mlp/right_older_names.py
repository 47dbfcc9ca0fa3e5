def sequence_parallel_mlp(rank, size, x, w1, w2):
    rows = torch.empty(size * len(x), x.shape[1], dtype=x.dtype)
    dist.all_gather_into_tensor(rows, x)
    terms = F.linear(F.gelu(F.linear(rows, w1)), w2)
    mine = torch.empty_like(x)
    dist.reduce_scatter_tensor(mine, terms)
    return mine
