# hint: read before wait
def sequence_parallel_mlp(rank, size, x, w1, w2):
    rows = [torch.empty_like(x) for _ in range(size)]
    request = dist.all_gather(rows, x, async_op=True)
    terms = F.gelu(torch.cat(rows) @ w1.T) @ w2.T
    request.wait()
    mine = torch.empty_like(x)
    dist.reduce_scatter(mine, list(terms.chunk(size)))
    return mine
