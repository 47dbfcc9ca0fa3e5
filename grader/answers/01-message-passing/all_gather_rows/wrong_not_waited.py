# hint: read before wait
def all_gather_rows(rank, size, row):
    rows = [torch.zeros_like(row) for _ in range(size)]
    request = dist.all_gather(rows, row, async_op=True)
    early = torch.stack(rows)
    request.wait()
    return early
