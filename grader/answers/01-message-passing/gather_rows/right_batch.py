def gather_rows(rank, size, row, dst):
    if rank == dst:
        rows = [row if r == rank else torch.empty_like(row) for r in range(size)]
        operations = [dist.P2POp(dist.irecv, rows[r], r) for r in range(size) if r != rank]
    else:
        operations = [dist.P2POp(dist.isend, row, dst)]
    for request in dist.batch_isend_irecv(operations) if operations else []:
        request.wait()
    return torch.vstack(rows) if rank == dst else None
