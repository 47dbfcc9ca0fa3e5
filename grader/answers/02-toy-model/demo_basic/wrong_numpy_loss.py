# hint: loss as a tensor
def demo_basic(rank, world_size, inputs, targets):
    model = DDP(ToyModel())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
    return {"loss": loss.detach().numpy()[()], "parameters": list(model.parameters())}
