# hint: result of an in-place call
def scatter_rows(rank, size, matrix, src, width):
    row = torch.empty(width)
    return dist.scatter(row, list(matrix.unbind()) if rank == src else None, src)
