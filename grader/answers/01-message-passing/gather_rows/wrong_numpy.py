# hint: array for tensor
def gather_rows(rank, size, row, dst):
    rows = [torch.empty_like(row) for _ in range(size)] if rank == dst else None
    dist.gather(row, rows, dst)
    return torch.stack(rows).numpy() if rank == dst else None
