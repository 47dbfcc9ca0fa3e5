# hint: own row not filled in
def gather_rows(rank, size, row, dst):
    if rank == dst:
        m = torch.zeros(size, len(row), dtype=row.dtype)
        for r in range(size):
            if r != dst:
                dist.recv(m[r], r)
        return m
    dist.send(row, dst)
