# hint: whole matrix
def scatter_rows(rank, size, matrix, src, width):
    if rank != src:
        matrix = torch.empty(size, width)
    dist.broadcast(matrix, src)
    return matrix
