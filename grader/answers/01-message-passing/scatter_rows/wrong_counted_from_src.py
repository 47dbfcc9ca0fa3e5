# hint: another rank's row
def scatter_rows(rank, size, matrix, src, width):
    row = torch.empty(width)
    rows = [matrix[(src + i) % size] for i in range(size)] if rank == src else None
    dist.scatter(row, rows, src)
    return row
