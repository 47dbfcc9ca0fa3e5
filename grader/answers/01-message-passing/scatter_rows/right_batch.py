def scatter_rows(rank, size, matrix, src, width):
    if rank == src:
        row = matrix[src]
        operations = [
            dist.P2POp(dist.isend, matrix[other], other) for other in range(size) if other != rank
        ]
    else:
        row = torch.empty(width)
        operations = [dist.P2POp(dist.irecv, row, src)]
    if operations:
        for request in dist.batch_isend_irecv(operations):
            request.wait()
    return row
