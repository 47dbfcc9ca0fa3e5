def ring_attention(rank, size, q, k, v, causal):
    """Under a causal mask a block goes no further than to the last rank."""
    n = q.shape[1]
    o, lse = torch.zeros_like(q), torch.full_like(q[..., 0], -torch.inf)
    for step in range(size):
        source = (rank - step) % size
        if k is not None and (not causal or source <= rank):
            visible = torch.ones(n, n).tril().bool() if causal and source == rank else None
            part, weight = attend(q, k, v, visible)
            total = torch.logaddexp(lse, weight)
            o = o * torch.exp(lse - total).unsqueeze(-1)
            o = o + part * torch.exp(weight - total).unsqueeze(-1)
            lse = total
        if step == size - 1:
            break
        requests, old = [], (k, v)
        if not causal or (rank < size - 1 and rank - step >= 0):
            requests += [dist.isend(block, (rank + 1) % size) for block in old]
        k = v = None
        if not causal or (rank > 0 and rank - 1 - step >= 0):
            k, v = torch.empty_like(q), torch.empty_like(q)
            requests += [dist.irecv(block, (rank - 1) % size) for block in (k, v)]
        for request in requests:
            request.wait()
    return o
