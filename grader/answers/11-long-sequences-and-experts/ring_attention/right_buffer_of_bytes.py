def ring_attention(rank, size, q, k, v, causal):
    heads, n, d = q.shape
    wide = k.numel() * k.element_size()
    pos = rank * n + torch.arange(n)
    num = torch.zeros_like(v)
    den = torch.zeros(heads, n, 1, dtype=q.dtype)
    top = torch.full((heads, n, 1), -torch.inf, dtype=q.dtype)
    for t in range(size):
        reqs = []
        if t < size - 1:
            out = torch.cat([k.reshape(-1).view(torch.uint8), v.reshape(-1).view(torch.uint8)])
            box = torch.empty(2 * wide, dtype=torch.uint8)
            reqs = [dist.isend(out, (rank + 1) % size), dist.irecv(box, (rank - 1) % size)]
        s = torch.einsum("hid,hjd->hij", q, k) / math.sqrt(d)
        if causal:
            other = (rank - t) % size * n + torch.arange(n)
            s = s.masked_fill(other[None, :] > pos[:, None], float("-inf"))
        new = torch.maximum(top, s.amax(-1, keepdim=True))
        safe = new.clamp(min=-1e300 if q.dtype == torch.float64 else -1e38)
        w = (s - safe).exp()
        old = (top - safe).exp()
        num, den, top = num * old + w @ v, den * old + w.sum(-1, keepdim=True), new
        for r in reqs:
            r.wait()
        if reqs:
            k = box[:wide].view(k.dtype).view(heads, n, d)
            v = box[wide:].view(k.dtype).view(heads, n, d)
    return num / den
