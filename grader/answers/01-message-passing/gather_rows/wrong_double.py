# hint: float32 left
def gather_rows(rank, size, row, dst):
    box = [None] * size
    dist.all_gather_object(box, row.tolist())
    return torch.tensor(box, dtype=torch.float64) if rank == dst else None
