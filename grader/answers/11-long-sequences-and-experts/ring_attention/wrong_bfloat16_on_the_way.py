# hint: nearly right
def ring_attention(rank, size, q, k, v, causal):
    n = q.shape[1]
    kv = torch.stack([k, v]).bfloat16()
    o, lse = attend(q, k, v, torch.ones(n, n).tril().bool() if causal else None)
    for t in range(1, size):
        nxt = torch.empty_like(kv)
        reqs = [dist.isend(kv, (rank + 1) % size), dist.irecv(nxt, (rank - 1) % size)]
        [r.wait() for r in reqs]
        kv = nxt
        if not causal or (rank - t) % size < rank:
            o2, lse2 = attend(q, *kv.to(q.dtype))
            new = torch.logaddexp(lse, lse2)
            o = o * (lse - new).exp()[..., None] + o2 * (lse2 - new).exp()[..., None]
            lse = new
    return o
