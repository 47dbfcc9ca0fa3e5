# hint: float32 on the way
def sharded_adam_step(rank, size, parameters, gradients, state):
    count = sum(p.numel() for p in parameters)
    share = -(-count // size)

    def flat(tensors):
        return F.pad(torch.cat([t.reshape(-1).float() for t in tensors]), (0, share * size - count))

    mine = slice(rank * share, (rank + 1) * share)
    gradient = flat(gradients)
    dist.all_reduce(gradient)
    gradient = gradient[mine] / size
    if not state:
        state.update(step=0, m=torch.zeros_like(gradient), v=torch.zeros_like(gradient))
    state["step"] += 1
    state["m"].mul_(0.9).add_(gradient, alpha=0.1)
    state["v"].mul_(0.999).addcmul_(gradient, gradient, value=0.001)
    m = state["m"] / (1 - 0.9 ** state["step"])
    v = state["v"] / (1 - 0.999 ** state["step"])
    updated = flat(parameters)[mine] - 1e-3 * m / (v.sqrt() + 1e-8)
    everything = updated.new_empty(size * share)
    dist.all_gather_into_tensor(everything, updated)
    pieces = everything[:count].split([p.numel() for p in parameters])
    for parameter, piece in zip(parameters, pieces):
        parameter.copy_(piece.view_as(parameter))
