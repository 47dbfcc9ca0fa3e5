# status: deadlock
def gather_rows(rank, size, row, dst):
    if rank != dst:
        return None
    rows = [torch.empty_like(row) for _ in range(size)]
    dist.gather(row, rows, dst)
    return torch.stack(rows)
