# hint: float32 left
def scatter_rows(rank, size, matrix, src, width):
    box = [matrix.tolist() if rank == src else None]
    dist.broadcast_object_list(box, src=src)
    return torch.tensor(box[0][rank], dtype=torch.float64)
