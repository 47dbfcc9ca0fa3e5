# status: deadlock
def all_gather_rows(rank, size, row):
    rows = [torch.empty_like(row) for _ in range(size)]
    rows[rank].copy_(row)
    requests = []
    for other in range(size):
        if other != rank:
            requests.append(dist.isend(row, other))
            if row.nbytes > 1 << 20:
                requests.pop().wait()
            requests.append(dist.irecv(rows[other], other))
    for request in requests:
        request.wait()
    return torch.stack(rows)
