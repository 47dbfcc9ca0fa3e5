# hint: one root at a time
def ulysses_attention(rank, size, q, k, v, causal):
    def swap(x, cut, joined):
        pieces = [piece.contiguous() for piece in x.chunk(size, cut)]
        arrived = [torch.empty_like(piece) for piece in pieces]
        for src in range(size):
            dist.scatter(arrived[src], pieces if rank == src else None, src=src)
        return torch.cat(arrived, joined)

    q, k, v = (swap(t, 1, 0).transpose(0, 1) for t in (q, k, v))
    o = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return swap(o.transpose(0, 1), 0, 1)
