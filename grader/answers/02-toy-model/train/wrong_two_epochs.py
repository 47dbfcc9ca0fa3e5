# hint: several passes
def train(rank, world_size, batches, lr):
    device = device_of(rank)
    model = DDP(ToyModel().to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for epoch in range(2):
        for inputs, targets in batches:
            optimizer.zero_grad()
            outputs = model(inputs.to(device))
            nn.functional.mse_loss(outputs, targets.to(device)).backward()
            optimizer.step()
    return list(model.parameters())
