def pipeline_step(rank, size, stage, batch, targets, microbatches):
    def forward(m):
        if rank == 0:
            inputs = batch.tensor_split(microbatches)[m]
        else:
            inputs = told_buffer(rank - 1, rank).requires_grad_()
        output = stage_forward(rank, size, Telling(stage), inputs)
        loss = None
        if rank == size - 1:
            loss = F.mse_loss(output, targets.tensor_split(microbatches)[m]) / microbatches
        return output, inputs, loss

    class Telling:
        def __init__(self, stage):
            self.stage = stage

        def __call__(self, inputs):
            output = self.stage(inputs)
            if rank < size - 1:
                tell_shape(rank, rank + 1, output)
            # a stage without parameters on rank 0 has an output that needs a graph all the same
            return output if output.requires_grad else output.requires_grad_()

    done = [forward(m) for m in range(microbatches)]
    for output, inputs, loss in done:
        stage_backward(rank, size, output, inputs, loss)
    return sum(loss.item() for *_, loss in done) if rank == size - 1 else None


def stage_forward(rank, size, stage, inputs):
    if rank > 0:
        dist.recv(inputs, rank - 1)
    output = stage(inputs)
    if rank < size - 1:
        dist.send(output.detach(), rank + 1)
    return output


def stage_backward(rank, size, output, inputs, loss):
    if rank == size - 1:
        loss.backward()
    else:
        gradient = torch.empty_like(output)
        dist.recv(gradient, rank + 1)
        output.backward(gradient)
    if rank > 0:
        dist.send(inputs.grad, rank - 1)
