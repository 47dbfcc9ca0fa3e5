# hint: momentum
# status: wrong
def train(rank, world_size, batches, lr):
    model = DDP(ToyModel())
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    for inputs, targets in batches:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
    return list(model.parameters())
