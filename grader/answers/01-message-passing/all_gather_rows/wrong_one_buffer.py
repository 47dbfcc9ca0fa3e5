# hint: one buffer size times
def all_gather_rows(rank, size, row):
    rows = [torch.empty_like(row)] * size
    dist.all_gather(rows, row)
    return torch.stack(rows)
