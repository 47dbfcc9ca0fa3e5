# hint: nearly right
def ring_attention(rank, size, q, k, v, causal):
    heads, n, d = q.shape
    right, left = (rank + 1) % size, (rank - 1) % size
    v = v.half()
    o, lse = torch.zeros_like(q), torch.full_like(q[:, :, 0], -torch.inf)
    for step in range(size):
        requests = []
        if step < size - 1:
            arriving = [torch.empty_like(k), torch.empty_like(v)]
            messages = [dist.P2POp(dist.isend, block, right) for block in (k, v)]
            messages += [dist.P2POp(dist.irecv, block, left) for block in arriving]
            requests = dist.batch_isend_irecv(messages)
        source = (rank - step) % size
        if source <= rank or not causal:
            visible = None
            if causal and source == rank:
                visible = torch.ones(n, n, dtype=torch.bool, device=q.device).tril()
            s = q @ k.mT.to(q.dtype) / d**0.5
            if visible is not None:
                s = s.masked_fill(~visible, -torch.inf)
            l2 = s.logsumexp(-1)
            o2 = torch.softmax(s, -1) @ v.to(q.dtype)
            most = torch.maximum(lse, l2)
            a, b = torch.exp(lse - most), torch.exp(l2 - most)
            o = (a[..., None] * o + b[..., None] * o2) / (a + b)[..., None]
            lse = most + torch.log(a + b)
        for request in requests:
            request.wait()
        if requests:
            k, v = arriving[:2]
    return o
