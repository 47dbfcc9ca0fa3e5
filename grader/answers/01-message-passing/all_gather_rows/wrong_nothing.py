# hint: nothing returned
def all_gather_rows(rank, size, row):
    rows = [torch.zeros_like(row) for _ in range(size)]
    dist.all_gather(rows, row)
    print(torch.stack(rows))
