# hint: no mask on the own block
def ulysses_attention(rank, size, q, k, v, causal):
    def exchange(pieces, dim):
        pieces = [piece.contiguous() for piece in pieces]
        arrived = [torch.empty_like(piece) for piece in pieces]
        dist.all_to_all(arrived, pieces)
        return torch.cat(arrived, dim=dim)

    n = len(q)
    q, k, v = (exchange(x.chunk(size, dim=1), 0).transpose(0, 1) for x in (q, k, v))
    mask = None
    if causal:
        owner = torch.arange(size * n) // n
        mask = owner[:, None] >= owner[None, :]
    o = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    o = o.transpose(0, 1)
    return exchange(o.chunk(size, dim=0), 1)
