# hint: two dimensions
def scatter_rows(rank, size, matrix, src, width):
    row = torch.empty(1, width)
    rows = list(matrix.split(1)) if rank == src else None
    dist.scatter(row, rows, src)
    return row
