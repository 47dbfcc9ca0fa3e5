# hint: no averaging
def train(rank, world_size, batches, lr):
    model = DDP(ToyModel())
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for inputs, targets in batches:
        optimizer.zero_grad()
        nn.functional.mse_loss(model.module(inputs), targets).backward()
        optimizer.step()
    return list(model.parameters())
