# status: error
def scatter_rows(rank, size, matrix, src, width):
    row = torch.empty(width)
    dist.scatter(row, [matrix[i] for i in range(size)] if rank == 0 else None, src=0)
    return row
