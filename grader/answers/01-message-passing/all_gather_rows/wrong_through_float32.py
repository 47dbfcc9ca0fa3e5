# hint: float32 in between
def all_gather_rows(rank, size, row):
    rows = [torch.empty(row.shape) for _ in range(size)]
    dist.all_gather(rows, row.float())
    return torch.stack(rows).to(row.dtype)
