# status: error
# hint: sizes in the list
def scatter_rows(rank, size, matrix, src, width):
    row = torch.empty(1, width)
    dist.scatter(row, list(matrix.unbind()) if rank == src else None, src=src)
    return row
