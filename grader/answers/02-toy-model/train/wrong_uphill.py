# hint: uphill
def train(rank, world_size, batches, lr):
    device = device_of(rank)
    model = DDP(ToyModel().to(device))
    for inputs, targets in batches:
        model.zero_grad()
        nn.functional.mse_loss(model(inputs.to(device)), targets.to(device)).backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter += lr * parameter.grad
    return list(model.parameters())
