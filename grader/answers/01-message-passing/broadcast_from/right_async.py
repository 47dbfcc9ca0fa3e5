from torch.distributed import broadcast


def broadcast_from(rank, size, tensor, src):
    result = tensor.clone() if rank == src else torch.empty_like(tensor)
    work = broadcast(result, src, async_op=True)
    work.wait()
    return result
