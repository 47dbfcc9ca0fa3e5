# hint: averaged at the end
# status: wrong
def train(rank, world_size, batches, lr):
    model = ToyModel()
    for p in model.parameters():
        dist.broadcast(p.data, 0)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for inputs, targets in batches:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
    for p in model.parameters():
        dist.all_reduce(p.data)
        p.data /= world_size
    return list(model.parameters())
