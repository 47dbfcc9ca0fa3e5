def ring_attention(rank, size, q, k, v, causal):
    heads, n, d = q.shape
    at, block, parts = torch.arange(n), torch.cat([k, v]).contiguous(), []
    for step in range(size):
        source = (rank - step) % size
        if step < size - 1:
            came = torch.empty_like(block)
            request = dist.isend(block.view(torch.int8), (rank + 1) % size)
            dist.recv(came.view(torch.int8), (rank - 1) % size)
            request.wait()
        scores = q @ block[:heads].mT / d**0.5
        if causal:
            scores = scores.masked_fill(source * n + at > (rank * n + at)[:, None], -torch.inf)
        most = scores.amax(-1, keepdim=True).clamp(min=-1e30)
        weights = torch.exp(scores - most)
        parts.append((most, weights.sum(-1, keepdim=True), weights @ block[heads:]))
        block = came if step < size - 1 else block
    top = torch.stack([most for most, _, _ in parts]).amax(0)
    total = sum(torch.exp(most - top) * s for most, s, _ in parts)
    return sum(torch.exp(most - top) * o for most, _, o in parts) / total
