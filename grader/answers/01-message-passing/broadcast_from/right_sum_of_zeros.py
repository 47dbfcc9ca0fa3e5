class Source:
    def __init__(self, src):
        self.src = src

    def __call__(self, rank, tensor):
        mine = tensor if rank == self.src else torch.zeros_like(tensor)
        dist.all_reduce(mine, op=dist.ReduceOp.SUM)
        return mine


broadcast_from = lambda rank, size, tensor, src: Source(src)(rank, tensor)  # noqa: E731
