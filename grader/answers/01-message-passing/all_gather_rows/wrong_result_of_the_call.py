# hint: result of an in-place call
def all_gather_rows(rank, size, row):
    rows = [torch.empty_like(row) for _ in range(size)]
    return dist.all_gather(rows, row)
