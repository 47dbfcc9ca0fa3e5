import sys


def run_non_blocking(rank, size):
    dist.barrier()
    tensor = torch.zeros(1)
    if rank == 0:
        tensor += 1
    request = dist.isend(tensor, dst=1) if rank == 0 else dist.irecv(tensor, src=0)
    request.wait()
    if tensor.item() != 1:
        sys.exit(f"rank {rank} has {tensor.item()}")
    dist.monitored_barrier()
    dist.barrier(async_op=True).wait()
    return tensor
