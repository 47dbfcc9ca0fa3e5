from torch.distributed import scatter


def scatter_rows(rank, size, matrix, src, width):
    row = torch.empty((1, width))
    rows = list(matrix.chunk(size)) if matrix is not None else None
    scatter(row, rows, src=src, async_op=True).wait()
    return row.squeeze(0)
