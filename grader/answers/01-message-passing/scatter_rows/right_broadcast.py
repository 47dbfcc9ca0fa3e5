def scatter_rows(rank, size, matrix, src, width):
    if matrix is None:
        matrix = torch.empty(size, width)
    dist.broadcast(matrix, src)
    return matrix[rank]
