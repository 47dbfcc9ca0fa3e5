# status: error
def demo_basic(rank, world_size, inputs, targets):
    model = DDP(ToyModel().to(f"cuda:{rank}"), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    loss = nn.functional.mse_loss(model(inputs), targets.to(f"cuda:{rank}"))
    loss.backward()
    optimizer.step()
    return {"loss": loss.item(), "parameters": list(model.parameters())}
