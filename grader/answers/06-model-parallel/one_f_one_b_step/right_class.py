from collections import deque


class Stage:
    def __init__(self, rank, size, stage, batch, targets, microbatches):
        self.rank, self.size, self.stage = rank, size, stage
        self.parts = deque(batch.split(len(batch) // microbatches)) if rank == 0 else None
        self.goals = deque(targets.split(len(targets) // microbatches)) if rank == size - 1 else None
        self.count, self.queue, self.pending, self.loss = microbatches, deque(), [], 0.0

    def forward(self):
        if self.rank:
            given = told_buffer(self.rank - 1, self.rank).requires_grad_()
            dist.irecv(given, src=self.rank - 1).wait()
        else:
            given = self.parts.popleft()
        result = self.stage(given)
        if self.goals is None:
            tell_shape(self.rank, self.rank + 1, result)
            self.pending.append(dist.isend(result.detach().clone(), dst=self.rank + 1))
        else:
            result = F.mse_loss(result, self.goals.popleft()).div(self.count)
            self.loss += float(result)
        self.queue.append((given, result))

    def backward(self):
        given, result = self.queue.popleft()
        back = None
        if self.goals is None:
            back = torch.zeros_like(result)
            dist.irecv(back, src=self.rank + 1).wait()
        if result.requires_grad:
            torch.autograd.backward([result], [back])
        if self.rank:
            self.pending.append(dist.isend(given.grad, dst=self.rank - 1))


def one_f_one_b_step(rank, size, stage, batch, targets, microbatches):
    mine = Stage(rank, size, stage, batch, targets, microbatches)
    fill = min(size - rank - 1, microbatches)
    plan = [mine.forward] * fill
    plan += [mine.forward, mine.backward] * (microbatches - fill)
    plan += [mine.backward] * fill
    for step in plan:
        step()
    while mine.pending:
        mine.pending.pop().wait()
    return mine.loss if mine.goals is not None else None
