from torch.distributed import irecv, send


def exchange(rank, size, tensor):
    received = torch.empty(tensor.shape, dtype=tensor.dtype)
    request = irecv(received, src=rank ^ 1)
    send(tensor, dst=rank ^ 1)
    request.wait()
    return received
