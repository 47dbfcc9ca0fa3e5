# status: error
# hint: result of an in-place call
def sharded_adam_step(rank, size, parameters, gradients, state):
    flat = dist.all_reduce(torch.cat([g.flatten() for g in gradients]))
    share = flat.chunk(size)[rank] / size
    raise RuntimeError(share)
