# status: error
def all_gather_rows(rank, size, row):
    rows = [torch.zeros_like(row) for _ in range(size)]
    dist.all_gather(row, rows)
    return torch.stack(rows)
