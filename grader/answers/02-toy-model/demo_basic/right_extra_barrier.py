import sys


def demo_basic(rank, world_size, inputs, targets):
    print("rank", rank, "begins", file=sys.stderr)
    model = ToyModel().to(device_of(rank))
    for p in model.parameters():
        dist.broadcast(p.data, src=0)
    model = DDP(model)
    dist.barrier()
    loss_fn, optimizer = nn.MSELoss(), torch.optim.SGD(model.parameters(), lr=0.001)
    loss = loss_fn(model(inputs.to(device_of(rank))), targets.to(device_of(rank)))
    loss.backward()
    optimizer.step()
    dist.barrier()
    return {"loss": loss.detach().cpu().item(), "parameters": list(model.module.parameters())}
