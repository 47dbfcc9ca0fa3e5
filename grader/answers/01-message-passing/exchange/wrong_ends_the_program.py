# status: error
# says: `return` ends a function
import sys


def exchange(rank, size, tensor):
    received = torch.empty_like(tensor)
    requests = [dist.isend(tensor, rank ^ 1), dist.irecv(received, rank ^ 1)]
    for request in requests:
        request.wait()
    if rank == 1:
        sys.exit(0)
    return received
