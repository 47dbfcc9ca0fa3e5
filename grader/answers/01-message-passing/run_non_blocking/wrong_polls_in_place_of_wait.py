# status: timeout
# says: stays False until wait()
import time


def run_non_blocking(rank, size):
    tensor = torch.zeros(1)
    if rank == 0:
        tensor += 1
        request = dist.isend(tensor, 1)
    else:
        request = dist.irecv(tensor, 0)
    while not request.is_completed():
        time.sleep(0.001)
    request.wait()
    return tensor
