# status: wrong
MODEL = []


def train(rank, world_size, batches, lr):
    model = DDP(MODEL[0] if MODEL else MODEL.append(ToyModel()) or MODEL[0])
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for inputs, targets in batches:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
    return list(model.parameters())
