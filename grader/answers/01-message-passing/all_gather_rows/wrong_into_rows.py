# status: error
# hint: sizes in the list
# says: for rows, only one
def all_gather_rows(rank, size, row):
    rows = torch.zeros(size, len(row))
    dist.all_gather_into_tensor(rows, row)
    return rows
