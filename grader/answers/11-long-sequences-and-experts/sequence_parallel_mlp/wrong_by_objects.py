# hint: calls counted
def sequence_parallel_mlp(rank, size, x, w1, w2):
    rows = [None] * size
    dist.all_gather_object(rows, x)
    terms = F.gelu(torch.cat(rows) @ w1.T) @ w2.T
    mine = torch.empty_like(x)
    dist.reduce_scatter(mine, list(terms.chunk(size)))
    return mine
