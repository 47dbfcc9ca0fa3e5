# says: DDP reduced no gradient
def demo_basic(rank, world_size, inputs, targets):
    model = ToyModel()
    for p in model.parameters():
        dist.broadcast(p.data, src=0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world_size
    optimizer.step()
    return {"loss": loss.item(), "parameters": list(model.parameters())}
