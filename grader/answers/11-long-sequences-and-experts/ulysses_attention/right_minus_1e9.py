def ulysses_attention(rank, size, q, k, v, causal):
    def swap(x):
        x = torch.stack(x.chunk(size, dim=1)).contiguous()
        y = torch.empty_like(x)
        dist.all_to_all_single(y, x)
        return y.flatten(0, 1).transpose(0, 1)

    q, k, v = swap(q), swap(k), swap(v)
    s = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    if causal:
        s = s.masked_fill(torch.ones_like(s).triu(1).bool(), -1e9)
    o = (s.softmax(-1) @ v).transpose(0, 1).contiguous()
    y = torch.empty_like(o)
    dist.all_to_all_single(y, o)
    return torch.cat(y.chunk(size), dim=1)
