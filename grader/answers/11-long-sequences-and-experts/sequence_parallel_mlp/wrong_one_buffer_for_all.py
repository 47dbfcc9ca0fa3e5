# hint: one buffer size times
def sequence_parallel_mlp(rank, size, x, w1, w2):
    rows = [torch.empty_like(x)] * size
    dist.all_gather(rows, x)
    terms = F.gelu(torch.cat(rows) @ w1.T) @ w2.T
    mine = torch.empty_like(x)
    dist.reduce_scatter(mine, list(terms.chunk(size)))
    return mine
