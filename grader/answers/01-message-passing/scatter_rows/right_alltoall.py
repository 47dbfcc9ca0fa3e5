def scatter_rows(rank, size, matrix, src, width):
    counts = [width] * size if rank == src else [0] * size
    recv = [0] * size
    recv[src] = width
    out = torch.empty(width)
    data = matrix.reshape(-1) if rank == src else torch.empty(0)
    dist.all_to_all_single(out, data, recv, counts)
    return out
