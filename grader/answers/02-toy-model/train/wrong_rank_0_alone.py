# status: deadlock
def train(rank, world_size, batches, lr):
    model = ToyModel()
    if rank == 0:
        for p in model.parameters():
            dist.broadcast(p.data, 0)
    model = DDP(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for inputs, targets in batches:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
    return list(model.parameters())
