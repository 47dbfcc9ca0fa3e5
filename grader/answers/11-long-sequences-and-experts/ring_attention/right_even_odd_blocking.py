def ring_attention(rank, size, q, k, v, causal):
    heads, n, d = q.shape
    parts, lses = [], []
    for step in range(size):
        source = (rank - step) % size
        if source <= rank or not causal:
            visible = torch.ones(n, n, dtype=torch.bool)
            if causal and source == rank:
                visible = visible.tril()
            o, lse = attend(q, k, v, visible)
            parts.append(o)
            lses.append(lse)
        if step == size - 1:
            break
        arriving = torch.empty_like(k), torch.empty_like(v)
        if rank % 2:
            for block in arriving:
                dist.recv(block, (rank - 1) % size)
        for block in (k, v):
            dist.send(block, (rank + 1) % size)
        if rank % 2 == 0:
            for block in arriving:
                dist.recv(block, (rank - 1) % size)
        k, v = arriving
    total = lses[0]
    for lse in lses[1:]:
        total = torch.logaddexp(total, lse)
    return sum(torch.exp(lse - total)[..., None] * o for o, lse in zip(parts, lses))
