# hint: step taken
def one_f_one_b_step(rank, size, stage, batch, targets, microbatches):
    first, last = rank == 0, rank == size - 1
    parts = batch.chunk(microbatches) if first else None
    answers = targets.chunk(microbatches) if last else None
    under_way, sends, losses = collections.deque(), [], []

    def forward(m):
        if first:
            inputs = parts[m]
        else:
            inputs = told_buffer(rank - 1, rank).requires_grad_()
            dist.recv(inputs, src=rank - 1)
        output = stage(inputs)
        if last:
            output = F.mse_loss(output, answers[m]) / microbatches
            losses.append(output.item())
        else:
            tell_shape(rank, rank + 1, output)
            sends.append(dist.isend(output.detach(), dst=rank + 1))
        under_way.append((inputs, output))

    def backward():
        inputs, output = under_way.popleft()
        gradient = None
        if not last:
            gradient = torch.empty_like(output)
            dist.recv(gradient, src=rank + 1)
        if output.requires_grad:
            output.backward(gradient)
        if not first:
            sends.append(dist.isend(inputs.grad, dst=rank - 1))

    fill = min(size - 1 - rank, microbatches)
    for m in range(fill):
        forward(m)
    for m in range(fill, microbatches):
        forward(m)
        backward()
    for _ in range(fill):
        backward()
    with torch.no_grad():
        for p in stage.parameters():
            p -= 0.1 * p.grad
    for send in sends:
        send.wait()
    return sum(losses) if last else None
