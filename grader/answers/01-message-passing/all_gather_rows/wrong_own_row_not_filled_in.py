# hint: own row not filled in
def all_gather_rows(rank, size, row):
    m = torch.zeros(size, row.shape[0], dtype=row.dtype)
    reqs = []
    for r in range(size):
        if r != rank:
            reqs += [dist.isend(row, r), dist.irecv(m[r], r)]
    for q in reqs:
        q.wait()
    return m
