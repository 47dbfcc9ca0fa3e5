# hint: NaN
def ring_attention(rank, size, q, k, v, causal):
    n = q.shape[1]
    above, below = 0, 0
    for step in range(size):
        source = (rank - step) % size
        weights = torch.exp(q @ k.mT / q.shape[-1] ** 0.5)
        if causal and source >= rank:
            weights = weights * (torch.ones(n, n).tril() if source == rank else 0)
        above, below = above + weights @ v, below + weights.sum(-1, keepdim=True)
        if step < size - 1:
            new = torch.empty_like(k), torch.empty_like(v)
            requests = [dist.isend(block, (rank + 1) % size) for block in (k, v)]
            requests += [dist.irecv(block, (rank - 1) % size) for block in new]
            for request in requests:
                request.wait()
            k, v = new
    return above / below
