# hint: not None elsewhere
def gather_rows(rank, size, row, dst):
    rows = [torch.empty_like(row) for _ in range(size)]
    dist.all_gather(rows, row)
    return torch.stack(rows)
