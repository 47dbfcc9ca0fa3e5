# hint: collective
def ring_attention(rank, size, q, k, v, causal):
    n = q.shape[1]
    keys, values = ([torch.empty_like(k) for _ in range(size)] for _ in range(2))
    dist.all_gather(keys, k)
    dist.all_gather(values, v)
    row = torch.arange(rank * n, (rank + 1) * n).unsqueeze(1)
    visible = row >= torch.arange(size * n) if causal else None
    return attend(q, torch.cat(keys, 1), torch.cat(values, 1), visible)[0]
