def train(rank, world_size, batches, lr):
    model = ToyModel()
    step = lambda p: p.data.sub_(lr * p.grad / world_size)
    for p in model.parameters():
        dist.broadcast(p.data, src=0)
    for number, (inputs, targets) in enumerate(batches):
        model.zero_grad(set_to_none=True)
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        print(f"step {number}: loss {loss.item():.3f}")
        for p in model.parameters():
            dist.reduce(p.grad, dst=0)
            if rank == 0:
                step(p)
            dist.broadcast(p.data, src=0)
    return list(model.parameters())
