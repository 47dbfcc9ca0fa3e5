# hint: partial sums
# says: A reduce-scatter adds the terms up
def sequence_parallel_mlp(rank, size, x, w1, w2):
    rows = [torch.empty_like(x) for _ in range(size)]
    dist.all_gather(rows, x)
    mine = F.gelu(torch.cat(rows) @ w1.T) @ w2.T
    terms = [torch.empty_like(mine) for _ in range(size)]
    dist.all_gather(terms, mine)
    return sum(terms).chunk(size)[rank].clone()
