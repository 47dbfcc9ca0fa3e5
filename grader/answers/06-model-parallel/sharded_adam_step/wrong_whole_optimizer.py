# hint: state not divided
def sharded_adam_step(rank, size, parameters, gradients, state):
    for p, g in zip(parameters, gradients):
        dist.all_reduce(g)
        p.grad = g / size
    if "adam" not in state:
        state["adam"] = torch.optim.Adam(parameters)
    state["adam"].step()
