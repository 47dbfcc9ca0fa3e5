def gather_rows(rank, size, row, dst):
    rows = [torch.zeros_like(row) for _ in range(size)] if rank == dst else None
    dist.gather(row, rows, dst=dst)
    return torch.stack(rows, dim=0) if rank == dst else None
