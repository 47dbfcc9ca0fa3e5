# hint: nothing computed yet
# says: object of type
def demo_basic(rank, world_size, inputs, targets):
    model = DDP(ToyModel())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
    return {"loss": loss.item(), "parameters": model.parameters()}
