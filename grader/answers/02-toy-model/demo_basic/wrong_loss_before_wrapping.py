# hint: own weights
def demo_basic(rank, world_size, inputs, targets):
    toy = ToyModel()
    first = nn.functional.mse_loss(toy(inputs), targets).item()
    model = DDP(toy)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    nn.functional.mse_loss(model(inputs), targets).backward()
    optimizer.step()
    return {"loss": first, "parameters": list(model.parameters())}
