def scatter_rows(rank, size, matrix, src, width):
    row = torch.zeros(width)
    if rank == src:
        dist.scatter(row, scatter_list=[matrix[i] for i in range(size)], src=src)
    else:
        dist.scatter(row, src=src)
    return row
