def gather_rows(rank, size, row, dst):
    rows = [None] * size if rank == dst else None
    dist.gather_object(row, rows, dst=dst)
    return torch.stack(rows) if rank == dst else None
