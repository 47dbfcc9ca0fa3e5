# hint: ranks stepped differently
def train(rank, world_size, batches, lr):
    model = ToyModel()
    for parameter in model.parameters():
        dist.broadcast(parameter.data, 0)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for inputs, targets in batches:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        dist.all_reduce(loss)
        loss /= world_size
        loss.backward()
        optimizer.step()
    return list(model.parameters())
