class Max:
    op = dist.ReduceOp.MIN

    def __call__(self, tensor, dst):
        opposite = -tensor
        dist.reduce(opposite, dst, op=self.op)
        return -opposite


reduce_max_to = lambda rank, size, tensor, dst: (  # noqa: E731
    (Max()(tensor, dst), None)[rank != dst]
)
