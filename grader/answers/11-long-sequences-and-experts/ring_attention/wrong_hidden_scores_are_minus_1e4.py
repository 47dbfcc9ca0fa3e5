# hint: large scores
def ring_attention(rank, size, q, k, v, causal):
    n, d = q.shape[1:]
    here = torch.arange(n)[:, None] + rank * n
    o, lse = torch.zeros_like(q), torch.full(q.shape[:2], -torch.inf, dtype=q.dtype)
    block = torch.stack([k, v])
    for step in range(size):
        source = (rank - step) % size
        if step < size - 1:
            came = torch.empty_like(block)
            ops = [dist.P2POp(dist.isend, block, (rank + 1) % size), dist.P2POp(dist.irecv, came, (rank - 1) % size)]
            works = dist.batch_isend_irecv(ops)
        if not causal or source <= rank:
            s = q @ block[0].transpose(1, 2) / d**0.5
            if causal:
                s = s.masked_fill(torch.arange(n) + source * n > here, -1e4)
            l = s.logsumexp(-1)
            o2 = (s - l[..., None]).exp() @ block[1]
            new = torch.logaddexp(lse, l)
            o = (lse - new).exp()[..., None] * o + (l - new).exp()[..., None] * o2
            lse = new
        if step < size - 1:
            for w in works:
                w.wait()
            block = came
    return o
