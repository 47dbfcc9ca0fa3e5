import warnings


def train(rank, world_size, batches, lr):
    torch.manual_seed(42)
    warnings.warn("on stderr")
    device = device_of(rank)
    model = DDP(ToyModel().to(device), static_graph=True)
    optimizer = torch.optim.SGD(params=model.parameters(), lr=lr, momentum=0.0)
    for x, y in batches:
        loss = nn.functional.mse_loss(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return tuple(model.module.parameters())
