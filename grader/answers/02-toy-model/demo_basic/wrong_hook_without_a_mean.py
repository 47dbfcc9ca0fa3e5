# hint: wrong length of step
def total(state, bucket):
    return dist.all_reduce(bucket.buffer(), async_op=True).get_future().then(lambda f: f.value()[0])


def demo_basic(rank, world_size, inputs, targets):
    ddp = DDP(ToyModel())
    ddp.register_comm_hook(None, total)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.001)
    loss = nn.MSELoss()(ddp(inputs), targets)
    loss.backward()
    optimizer.step()
    return {"loss": loss.item(), "parameters": [p.detach() for p in ddp.parameters()]}
