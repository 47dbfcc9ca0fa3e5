# hint: straight to the others
def ring_attention(rank, size, q, k, v, causal):
    n = q.shape[1]
    requests, blocks = [], {rank: (k, v)}
    for other in range(size):
        if other != rank:
            blocks[other] = torch.empty_like(k), torch.empty_like(v)
            requests += [dist.isend(block, other) for block in (k, v)]
            requests += [dist.irecv(block, other) for block in blocks[other]]
    for request in requests:
        request.wait()
    o, lse = torch.zeros_like(q), torch.full_like(q[..., 0], -torch.inf)
    for source in range(rank + 1 if causal else size):
        visible = torch.ones(n, n).tril().bool() if causal and source == rank else None
        part, weight = attend(q, *blocks[source], visible)
        total = torch.logaddexp(lse, weight)
        o = o * torch.exp(lse - total)[..., None] + part * torch.exp(weight - total)[..., None]
        lse = total
    return o
