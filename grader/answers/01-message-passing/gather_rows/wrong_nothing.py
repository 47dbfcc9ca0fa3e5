# hint: result of an in-place call
def gather_rows(rank, size, row, dst):
    rows = [torch.empty_like(row) for _ in range(size)] if rank == dst else None
    return dist.gather(row, rows, dst)
