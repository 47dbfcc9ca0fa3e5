# hint: rows never gathered
def sequence_parallel_mlp(rank, size, x, w1, w2):
    return F.gelu(x @ w1.T) @ w2.T
