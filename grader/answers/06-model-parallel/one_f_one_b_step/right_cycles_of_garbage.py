def one_f_one_b_step(rank, size, stage, batch, targets, microbatches):
    """Each part is an object whose closures hold it: what is let go of is garbage in a cycle."""

    class Part:
        def __init__(self, m):
            if rank == 0:
                self.x = batch.chunk(microbatches)[m]
            else:
                self.x = told_buffer(rank - 1, rank)
                dist.recv(self.x, rank - 1)
                self.x.requires_grad_()
            self.y = stage(self.x)
            self.loss = None
            if rank < size - 1:
                tell_shape(rank, rank + 1, self.y)
                sends.append(dist.isend(self.y.detach(), rank + 1))
            else:
                self.y = F.mse_loss(self.y, targets.chunk(microbatches)[m]) / microbatches
                losses.append(self.y.item())
            self.back = lambda: self.go_back()

        def go_back(self):
            gradient = None
            if rank < size - 1:
                gradient = torch.empty_like(self.y.detach())
                dist.recv(gradient, rank + 1)
            if self.y.requires_grad:
                self.y.backward(gradient)
            if rank > 0:
                sends.append(dist.isend(self.x.grad, rank - 1))

    sends, losses, parts = [], [], []
    ahead = min(size - 1 - rank, microbatches)
    for m in range(microbatches):
        parts.append(Part(m))
        if m >= ahead:
            parts.pop(0).back()
    while parts:
        parts.pop(0).back()
    for send in sends:
        send.wait()
    return sum(losses) if rank == size - 1 else None
