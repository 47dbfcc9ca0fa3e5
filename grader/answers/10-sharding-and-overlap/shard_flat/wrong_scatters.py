# says: needs no communication
def shard_flat(rank, size, tensors):
    flat = torch.cat([t.flatten() for t in tensors])
    flat = F.pad(flat, (0, -flat.numel() % size))
    piece = torch.empty(flat.numel() // size, dtype=flat.dtype)
    dist.scatter(piece, list(flat.chunk(size)) if rank == 0 else None, src=0)
    return piece
