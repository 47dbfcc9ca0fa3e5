def ring_attention(rank, size, q, k, v, causal):
    flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    o = lse = None
    for step in range(size):
        if step:
            requests = [dist.isend(block, (rank + 1) % size) for block in (k, v)]
            k, v = torch.empty_like(k), torch.empty_like(v)
            requests += [dist.irecv(block, (rank - 1) % size) for block in (k, v)]
            for request in requests:
                request.wait()
        source = (rank - step) % size
        if causal and source > rank:
            continue
        part, weight = flash(q[None], k[None], v[None], 0.0, causal and source == rank)
        part, weight = part[0], weight[0].to(q.dtype)
        if o is None:
            o, lse = part, weight
        else:
            total = torch.logaddexp(lse, weight)
            o = o * torch.exp(lse - total)[..., None] + part * torch.exp(weight - total)[..., None]
            lse = total
    return o
