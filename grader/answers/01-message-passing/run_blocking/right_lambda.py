def _one(tensor):
    tensor += 1
    dist.send(tensor, dst=1)
    return tensor


run_blocking = lambda rank, size: (  # noqa: E731
    _one(torch.zeros(1)) if rank == 0 else [t := torch.zeros(1), dist.recv(t, src=0)][0]
)
