def scatter_rows(rank, size, matrix, src, width):
    box = [None]
    rows = [matrix[r].clone() for r in range(size)] if rank == src else None
    dist.scatter_object_list(box, rows, src=src)
    return box[0]
