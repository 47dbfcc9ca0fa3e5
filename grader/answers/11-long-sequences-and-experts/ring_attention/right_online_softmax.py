def ring_attention(rank, size, q, k, v, causal):
    heads, n, d = q.shape
    largest = torch.full((heads, n, 1), -torch.inf, dtype=q.dtype)
    above, below = torch.zeros_like(q), torch.zeros_like(largest)
    both = torch.stack([k, v])  # one message a round
    here = torch.arange(n) + rank * n
    for step in range(size):
        source = (rank - step) % size
        scores = torch.einsum("hid,hjd->hij", q, both[0]) * d**-0.5
        if causal:
            there = torch.arange(n) + source * n
            scores = scores.masked_fill(here[:, None] < there[None, :], -torch.inf)
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        safe = new.masked_fill(new == -torch.inf, 0)
        weights, before = torch.exp(scores - safe), torch.exp(largest - safe)
        above = above * before + weights @ both[1]
        below = below * before + weights.sum(-1, keepdim=True)
        largest = new
        if step < size - 1:
            received = torch.empty_like(both)
            sent = dist.isend(both, (rank + 1) % size)
            dist.recv(received, (rank - 1) % size)
            sent.wait()
            both = received
    return above / below
