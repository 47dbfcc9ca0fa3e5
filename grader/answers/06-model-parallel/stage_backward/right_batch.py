class Mail:
    def __init__(self, call):
        self.call = call

    def __call__(self, tensor, peer):
        [r.wait() for r in dist.batch_isend_irecv([dist.P2POp(self.call, tensor, peer)])]
        return tensor


def stage_backward(rank, size, output, inputs, loss):
    if rank == size - 1:
        loss.backward(retain_graph=True)
    else:
        output.backward(Mail(dist.irecv)(output.detach().clone(), rank + 1))
    if rank >= 1:
        Mail(dist.isend)(inputs.grad, rank - 1)
    return "done"
