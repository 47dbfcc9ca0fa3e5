def sequence_parallel_mlp(rank, size, x, w1, w2):
    root = torch.tensor(2.0).sqrt()  # float32, also where x is float64
    rows = torch.empty(size * len(x), x.shape[1], dtype=x.dtype)
    dist.all_gather_into_tensor(rows, x)
    hidden = rows @ w1.T
    hidden = hidden * (1 + torch.erf(hidden / root)) / 2
    mine = torch.empty_like(x)
    dist.reduce_scatter_tensor(mine, hidden @ w2.T)
    return mine
