# hint: all-reduce
def sequence_parallel_mlp(rank, size, x, w1, w2):
    mine = F.gelu(x @ w1.T) @ w2.T
    dist.all_reduce(mine)
    return mine
