from torch.distributed import P2POp, batch_isend_irecv


def ring_all_gather(rank, size, chunks):
    have = (rank + 1) % size
    for _ in range(size - 1):
        want = (have - 1) % size
        operations = [
            P2POp(dist.isend, chunks[have], (rank + 1) % size),
            P2POp(dist.irecv, chunks[want], (rank - 1) % size),
        ]
        for request in batch_isend_irecv(operations):
            request.wait()
        have = want
