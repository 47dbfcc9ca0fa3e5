def ulysses_attention(rank, size, q, k, v, causal):
    def to_heads(x):
        x = torch.cat(x.chunk(size, dim=1))
        y = torch.empty_like(x)
        dist.all_to_all_single(y, x)
        return y.transpose(0, 1)

    q, k, v = to_heads(q), to_heads(k), to_heads(v)
    n = q.shape[1]
    o, _ = attend(q, k, v, torch.ones(n, n).tril().bool() if causal else None)
    o = o.transpose(0, 1).contiguous()
    y = torch.empty_like(o)
    dist.all_to_all_single(y, o)
    return torch.cat(y.chunk(size), dim=1)
