def all_gather_rows(rank, size, row):
    matrix = torch.empty((size,) + tuple(row.shape), dtype=row.dtype)
    matrix[rank] = row
    requests = []
    for other in range(size):
        if other != rank:
            requests.append(dist.isend(row, other))
            requests.append(dist.irecv(matrix[other], other))
    for request in requests:
        request.wait()
    return matrix
