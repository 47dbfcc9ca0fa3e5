from torch.utils.checkpoint import checkpoint

def one_f_one_b_step(rank, size, stage, batch, targets, microbatches):
    parts = batch.chunk(microbatches) if rank == 0 else None
    goals = targets.chunk(microbatches) if rank == size - 1 else None
    inputs, outputs, sends, losses = [], [], [], []
    def forward(m):
        if rank == 0:
            x = parts[m].detach().requires_grad_()
        else:
            x = told_buffer(rank - 1, rank)
            dist.recv(x, rank - 1)
            x.requires_grad_()
        y = checkpoint(stage, x, use_reentrant=True)
        if rank < size - 1:
            tell_shape(rank, rank + 1, y)
            sends.append(dist.isend(y.detach(), rank + 1))
        else:
            y = F.mse_loss(y, goals[m]) / microbatches
            losses.append(y.item())
        inputs.append(x)
        outputs.append(y)
    def backward():
        x, y, gradient = inputs.pop(0), outputs.pop(0), None
        if rank < size - 1:
            gradient = torch.empty_like(y)
            dist.recv(gradient, rank + 1)
        if y.requires_grad:
            y.backward(gradient)
        if rank > 0:
            sends.append(dist.isend(x.grad, rank - 1))
    ahead = min(size - rank - 1, microbatches)
    for m in range(ahead):
        forward(m)
    for m in range(ahead, microbatches):
        forward(m)
        backward()
    for _ in range(ahead):
        backward()
    for send in sends:
        send.wait()
    return sum(losses) if rank == size - 1 else None

