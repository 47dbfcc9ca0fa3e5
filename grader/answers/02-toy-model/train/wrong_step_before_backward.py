# status: error
# says: The order is forward, loss, backward, step.
def train(rank, world_size, batches, lr):
    device = device_of(rank)
    model = DDP(ToyModel().to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for inputs, targets in batches:
        loss = nn.functional.mse_loss(model(inputs.to(device)), targets.to(device))
        optimizer.step()
        optimizer.zero_grad()
        loss.backward()
    return list(model.parameters())
