# hint: not scaled
def ulysses_attention(rank, size, q, k, v, causal):
    def exchange(pieces, dim):
        pieces = [piece.contiguous() for piece in pieces]
        arrived = [torch.empty_like(piece) for piece in pieces]
        dist.all_to_all(arrived, pieces)
        return torch.cat(arrived, dim=dim)

    scale = (q.shape[1] * q.shape[2]) ** -0.5
    q, k, v = (exchange(x.chunk(size, dim=1), 0).transpose(0, 1) for x in (q, k, v))
    o = F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)
    o = o.transpose(0, 1)
    return exchange(o.chunk(size, dim=0), 1)
