# hint: own row only
def all_gather_rows(rank, size, row):
    return row
