import warnings


class Pipeline:
    def __init__(self, rank, size, stage):
        self.rank, self.size, self.stage = rank, size, stage
        self.inputs, self.outputs = [], []

    def p2p(self, kind, tensor, peer):
        for work in dist.batch_isend_irecv([dist.P2POp(kind, tensor, peer)]):
            work.wait()

    def forward(self, x):
        if self.rank > 0:
            x = told_buffer(self.rank - 1, self.rank)
            self.p2p(dist.irecv, x, self.rank - 1)
        x = x.detach().requires_grad_()
        y = self.stage(x)
        self.inputs.append(x)
        self.outputs.append(y)
        if self.rank + 1 < self.size:
            tell_shape(self.rank, self.rank + 1, y)
            self.p2p(dist.isend, y.detach(), self.rank + 1)
        return y

    def backward(self, loss=None):
        x, y = self.inputs.pop(0), self.outputs.pop(0)
        if loss is None:
            g = torch.empty_like(y)
            self.p2p(dist.irecv, g, self.rank + 1)
            torch.autograd.backward(y, g)
        else:
            loss.backward()
        if self.rank > 0:
            self.p2p(dist.isend, x.grad, self.rank - 1)


def pipeline_step(rank, size, stage, batch, targets, microbatches):
    warnings.warn("a step begins")
    pipe = Pipeline(rank, size, stage)
    xs = batch.chunk(microbatches) if rank == 0 else [None] * microbatches
    ys = [pipe.forward(x) for x in xs]
    if rank < size - 1:
        for _ in ys:
            pipe.backward()
        return None
    parts = targets.chunk(microbatches)
    losses = [F.mse_loss(y, t, reduction="sum") / targets.numel() for y, t in zip(ys, parts)]
    for loss in losses:
        pipe.backward(loss)
    return float(sum(losses))
