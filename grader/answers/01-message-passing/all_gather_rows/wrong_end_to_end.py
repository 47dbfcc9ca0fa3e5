# hint: rows end to end
def all_gather_rows(rank, size, row):
    flat = torch.empty(size * row.numel(), dtype=row.dtype)
    dist.all_gather_into_tensor(flat, row)
    return flat
