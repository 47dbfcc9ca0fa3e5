# hint: a batch left out
def train(rank, world_size, batches, lr):
    model = DDP(ToyModel())
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for number in range(len(batches) - 1):
        inputs, targets = batches[number]
        optimizer.zero_grad()
        nn.MSELoss()(model(inputs), targets).backward()
        optimizer.step()
    return list(model.parameters())
