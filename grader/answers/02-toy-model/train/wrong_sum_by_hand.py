# hint: sum for mean
def train(rank, world_size, batches, lr):
    model = ToyModel()
    for p in model.parameters():
        dist.broadcast(p.data, 0)
    for inputs, targets in batches:
        model.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.data -= lr * p.grad
    return list(model.parameters())
