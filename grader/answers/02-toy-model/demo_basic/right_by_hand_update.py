def demo_basic(rank, world_size, inputs, targets):
    device = device_of(rank)
    ddp = DDP(ToyModel().to(device), bucket_cap_mb=1, gradient_as_bucket_view=True)
    loss = ((ddp(inputs.to(device)) - targets.to(device)) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in ddp.module.parameters():
            p -= 0.001 * p.grad
    return {"loss": loss.item(), "parameters": tuple(ddp.module.parameters())}
