def ring_attention(rank, size, q, k, v, causal):
    heads, n, d = q.shape
    held = {rank: (k, v)}
    for step in range(size - 1):
        source = (rank - step - 1) % size
        held[source] = torch.empty_like(k), torch.empty_like(v)
        ops = [dist.P2POp(dist.isend, b, (rank + 1) % size) for b in held[(rank - step) % size]]
        ops += [dist.P2POp(dist.irecv, b, (rank - 1) % size) for b in held[source]]
        for work in dist.batch_isend_irecv(ops):
            work.wait()
    scores = {}
    for source, (keys, _) in held.items():
        s = q @ keys.mT / d**0.5
        if causal and source >= rank:
            s = s.masked_fill(torch.ones(n, n).triu(1 if source == rank else 1 - n).bool(), -1e30)
        scores[source] = s
    most = torch.stack([s.amax(-1) for s in scores.values()]).amax(0).unsqueeze(-1)
    weights = {source: torch.exp(s - most) for source, s in scores.items()}
    total = sum(w.sum(-1, keepdim=True) for w in weights.values())
    return sum(weights[source] @ held[source][1] for source in held) / total
