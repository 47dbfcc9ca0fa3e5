import warnings


def gather_rows(rank, size, row, dst):
    warnings.warn("any order")
    if rank != dst:
        dist.isend(row, dst).wait()
        return None
    rows = {rank: row}
    while len(rows) < size:
        buffer = torch.empty_like(row)
        rows[dist.recv(buffer)] = buffer
    return torch.stack([rows[r] for r in range(size)])
