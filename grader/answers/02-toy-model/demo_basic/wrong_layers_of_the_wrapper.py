# status: error
# hint: attribute of the wrapper
def demo_basic(rank, world_size, inputs, targets):
    model = DDP(ToyModel())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
    layers = (model.net1, model.net2)
    return {"loss": loss.item(), "parameters": [p for layer in layers for p in layer.parameters()]}
