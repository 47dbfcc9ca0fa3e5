# hint: columns for rows
def gather_rows(rank, size, row, dst):
    rows = [torch.empty_like(row) for _ in range(size)] if rank == dst else None
    dist.gather(row, rows, dst)
    return torch.stack(rows, dim=1) if rank == dst else None
