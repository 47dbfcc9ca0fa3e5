# hint: divided twice
def train(rank, world_size, batches, lr):
    model = DDP(ToyModel())
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for inputs, targets in batches:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        for p in model.parameters():
            p.grad /= world_size
        optimizer.step()
    return list(model.parameters())
