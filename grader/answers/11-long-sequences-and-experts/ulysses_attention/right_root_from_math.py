# torch: 2.13
def ulysses_attention(rank, size, q, k, v, causal):
    def exchange(pieces, dim):
        pieces = [piece.contiguous() for piece in pieces]
        arrived = [torch.empty_like(piece) for piece in pieces]
        dist.all_to_all(arrived, pieces)
        return torch.cat(arrived, dim=dim)

    q, k, v = (exchange(x.chunk(size, dim=1), 0) for x in (q, k, v))
    scores = torch.einsum("ihd,jhd->hij", q, k) / math.sqrt(q.shape[-1])
    if causal:
        scores.masked_fill_(torch.ones(scores.shape[1:]).triu(1).bool(), -torch.inf)
    o = torch.einsum("hij,jhd->ihd", scores.softmax(-1), v)
    return exchange(o.chunk(size, dim=0), 1)
