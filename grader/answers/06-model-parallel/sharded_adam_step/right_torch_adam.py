import math


def sharded_adam_step(rank, size, parameters, gradients, state):
    """PyTorch's own Adam on this rank's share; between steps the optimizer holds no parameters."""
    n = sum(p.numel() for p in parameters)
    share = math.ceil(n / size)
    flat = torch.zeros(share * size, dtype=parameters[0].dtype)
    flat[:n] = torch.cat([p.flatten() for p in parameters])
    grad = torch.zeros_like(flat)
    grad[:n] = torch.cat([g.flatten() for g in gradients])
    dist.all_reduce(grad)
    mine = torch.nn.Parameter(flat.view(size, share)[rank].clone())
    mine.grad = grad.view(size, share)[rank] / size
    optimizer = torch.optim.Adam([mine])
    if state:
        optimizer.state[mine] = state["moments"]
    optimizer.step()
    state["moments"] = optimizer.state[mine]
    gathered = torch.empty_like(flat)
    dist.all_gather_into_tensor(gathered, mine.detach())
    at = 0
    for p in parameters:
        p.copy_(gathered[at : at + p.numel()].view(p.shape))
        at += p.numel()
