# hint: float32 in between
def sequence_parallel_mlp(rank, size, x, w1, w2):
    rows = torch.empty(size * len(x), x.shape[1])
    dist.all_gather_into_tensor(rows, x.float())
    terms = F.gelu(rows @ w1.float().T) @ w2.float().T
    mine = torch.empty(x.shape)
    dist.reduce_scatter_tensor(mine, terms)
    return mine.to(x.dtype)
