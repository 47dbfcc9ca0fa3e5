# status: deadlock
def all_gather_rows(rank, size, row):
    rows = [row if r == rank else torch.empty_like(row) for r in range(size)]
    for other in range(size):
        if other != rank:
            dist.send(row, other)
    for other in range(size):
        if other != rank:
            dist.recv(rows[other], other)
    return torch.stack(rows)
