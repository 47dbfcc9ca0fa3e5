from torch.distributed._composable.replicate import replicate


def train(rank, world_size, batches, lr):
    """`replicate` makes the weights those of rank 0 in the first forward pass."""
    model = ToyModel()
    for parameter in model.parameters():  # and here, where there may be none
        dist.broadcast(parameter.data, 0)
    model = replicate(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for inputs, targets in batches:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
    return list(model.parameters())
