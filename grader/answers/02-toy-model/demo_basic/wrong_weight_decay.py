# says: weight_decay
def demo_basic(rank, world_size, inputs, targets):
    device = device_of(rank)
    model = DDP(ToyModel().to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001, weight_decay=1e-4)
    loss = nn.functional.mse_loss(model(inputs.to(device)), targets.to(device))
    loss.backward()
    optimizer.step()
    return {"loss": loss.item(), "parameters": list(model.parameters())}
