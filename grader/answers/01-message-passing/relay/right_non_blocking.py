from torch.distributed import irecv, isend


def relay(rank, size, tensor):
    total = tensor.clone()
    if rank:
        buffer = torch.empty_like(tensor)
        irecv(buffer, rank - 1).wait()
        total.add_(buffer)
    if rank + 1 < size:
        isend(total, rank + 1).wait()
    return total
