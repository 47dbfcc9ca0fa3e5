# hint: some tensors left out
def train(rank, world_size, batches, lr):
    model = ToyModel()
    for parameter in model.parameters():
        dist.broadcast(parameter.data, 0)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for inputs, targets in batches:
        optimizer.zero_grad()
        nn.MSELoss()(model(inputs), targets).backward()
        for layer in (model.net1, model.net2):
            dist.all_reduce(layer.weight.grad)
            layer.weight.grad /= world_size
        optimizer.step()
    return list(model.parameters())
