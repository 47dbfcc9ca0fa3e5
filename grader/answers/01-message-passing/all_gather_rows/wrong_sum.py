# status: wrong
def all_gather_rows(rank, size, row):
    dist.all_reduce(row)
    return row
