def clip_sharded(rank, size, pieces, max_norm):
    squares = torch.zeros(())
    for p in pieces:
        squares += (p.float() * p.float()).sum()
    dist.all_reduce(squares, async_op=True).wait()
    norm = squares.sqrt().item()
    if norm + 1e-6 > max_norm:
        for p in pieces:
            p *= max_norm / (norm + 1e-6)
    return norm
