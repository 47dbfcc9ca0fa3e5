def scatter_rows(rank, size, matrix, src, width):
    if rank != src:
        row = torch.empty(width)
        dist.recv(row, src)
        return row
    for other in range(size):
        if other != src:
            dist.send(matrix[other], other)
    return matrix[src].clone()
