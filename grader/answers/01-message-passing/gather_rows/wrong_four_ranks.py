# status: error
def gather_rows(rank, size, row, dst):
    rows = [torch.empty_like(row) for _ in range(4)] if rank == dst else None
    dist.gather(row, rows, dst)
    return torch.stack(rows) if rank == dst else None
