# hint: nearly right
def sharded_adam_step(rank, size, parameters, gradients, state):
    lengths = [p.numel() for p in parameters]
    share = -(-sum(lengths) // size)
    room = share * size - sum(lengths)
    line = F.pad(torch.cat([p.flatten() for p in parameters]), (0, room))
    gradient = F.pad(torch.cat([g.flatten() for g in gradients]), (0, room))
    dist.all_reduce(gradient)
    mine = line[rank * share : (rank + 1) * share].clone()
    if "adam" not in state:
        state["mine"] = nn.Parameter(mine)
        state["adam"] = torch.optim.AdamW([state["mine"]], lr=1e-3)
    state["mine"].data = mine
    state["mine"].grad = gradient[rank * share : (rank + 1) * share] / size
    state["adam"].step()
    state["mine"].grad = None
    pieces = [torch.empty_like(mine) for _ in range(size)]
    dist.all_gather(pieces, state["mine"].detach())
    state["mine"].data = torch.empty(0)
    line = torch.cat(pieces)[: sum(lengths)]
    for p, piece in zip(parameters, line.split(lengths)):
        p.copy_(piece.view_as(p))
