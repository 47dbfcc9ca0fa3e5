from torch.distributed import P2POp, batch_isend_irecv, irecv, isend


def ring_reduce_scatter(rank, size, chunks):
    received = [torch.zeros_like(chunk) for chunk in chunks]
    for step in range(size - 1):
        send, receive = (rank - step) % size, (rank - step - 1) % size
        for request in batch_isend_irecv(
            [
                P2POp(irecv, received[receive], (rank + size - 1) % size),
                P2POp(isend, chunks[send], (rank + 1) % size),
            ]
        ):
            request.wait()
        chunks[receive] += received[receive]
