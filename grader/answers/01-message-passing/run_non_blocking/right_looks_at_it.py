def run_non_blocking(rank, size):
    tensor = torch.zeros(1)
    if rank == 0:
        tensor += 1
        dist.isend(tensor, dst=1).wait()
        return tensor
    dist.irecv(tensor, src=0).wait()
    if tensor.item() != 1.0:
        raise ValueError(f"rank 0 should have sent a 1, not {tensor.item()}")
    return tensor
