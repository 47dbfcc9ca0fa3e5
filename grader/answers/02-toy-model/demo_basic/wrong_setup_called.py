# status: error
# hint: second process group
# says: twice
def demo_basic(rank, world_size, inputs, targets):
    dist.init_process_group('gloo', init_method='tcp://127.0.0.1:29511', rank=rank, world_size=world_size)
    model = DDP(ToyModel())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
    return {"loss": loss.item(), "parameters": list(model.parameters())}
