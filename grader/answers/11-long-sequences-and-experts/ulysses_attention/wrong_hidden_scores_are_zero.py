# hint: mask or swap
def ulysses_attention(rank, size, q, k, v, causal):
    q, k, v = (swap_shards(rank, size, part, "heads").transpose(0, 1) for part in (q, k, v))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if causal:
        scores = scores.tril()  # a score of 0 counts too
    mixed = scores.softmax(dim=-1) @ v
    return swap_shards(rank, size, mixed.transpose(0, 1).contiguous(), "sequence")


def swap_shards(rank, size, x, to):
    cut, join = (1, 0) if to == "heads" else (0, 1)
    pieces = [piece.contiguous() for piece in x.chunk(size, cut)]
    came = [torch.empty_like(piece) for piece in pieces]
    dist.all_to_all(came, pieces)
    return torch.cat(came, join)
