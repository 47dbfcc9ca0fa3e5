# hint: sum of squares
# status: wrong
def train(rank, world_size, batches, lr):
    model = DDP(ToyModel())
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for inputs, targets in batches:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets, reduction="sum").backward()
        optimizer.step()
    return list(model.parameters())
