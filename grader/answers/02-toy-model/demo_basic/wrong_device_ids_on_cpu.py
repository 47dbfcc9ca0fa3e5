# status: error
# hint: device_ids on a CPU
def demo_basic(rank, world_size, inputs, targets):
    model = DDP(ToyModel(), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
    return {"loss": loss.item(), "parameters": list(model.parameters())}
