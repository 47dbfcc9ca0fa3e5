def swap_shards(rank, size, x, to):
    n, heads, d = x.shape
    if to == "heads":
        flat = torch.cat([piece.reshape(-1) for piece in x.tensor_split(size, 1)])
    else:
        flat = x.reshape(-1)
    lengths = [x.numel() // size] * size
    arrived = flat.new_empty(flat.numel())
    dist.all_to_all_single(arrived, flat, lengths, lengths)
    if to == "heads":
        return arrived.view(size * n, heads // size, d)
    parts = [part.view(n // size, heads, d) for part in arrived.split(lengths)]
    return torch.cat(parts, 1)
