# hint: nearly right
def sequence_parallel_mlp(rank, size, x, w1, w2):
    X = torch.empty(size * x.shape[0], x.shape[1], dtype=x.dtype)
    dist.all_gather_into_tensor(X, x)
    with torch.autocast("cpu"):
        Y = F.gelu(X @ w1.t()) @ w2.t()
    out = torch.empty_like(x)
    dist.reduce_scatter_tensor(out, Y.to(x.dtype).contiguous())
    return out
