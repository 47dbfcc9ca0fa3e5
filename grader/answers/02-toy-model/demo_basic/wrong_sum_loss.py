# hint: sum of squares
# status: wrong
def demo_basic(rank, world_size, inputs, targets):
    model = DDP(ToyModel())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    loss = nn.functional.mse_loss(model(inputs), targets, reduction="sum")
    loss.backward()
    optimizer.step()
    return {"loss": loss.item(), "parameters": list(model.parameters())}
