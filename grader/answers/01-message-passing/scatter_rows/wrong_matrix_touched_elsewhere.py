# status: error
def scatter_rows(rank, size, matrix, src, width):
    row = torch.empty(width)
    rows = list(matrix.unbind())
    dist.scatter(row, rows if rank == src else None, src)
    return row
