# hint: one buffer size times
def gather_rows(rank, size, row, dst):
    rows = [torch.empty_like(row)] * size if rank == dst else None
    dist.gather(row, rows, dst)
    return torch.stack(rows) if rank == dst else None
