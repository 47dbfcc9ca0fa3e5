class Wrapped:
    def __init__(self, rank):
        self.device = device_of(rank)
        self.model = DDP(ToyModel().to(self.device))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)

    def step(self, inputs, targets):
        self.optimizer.zero_grad()
        loss = nn.MSELoss()(self.model(inputs.to(self.device)), targets.to(self.device))
        loss.backward()
        self.optimizer.step()
        return loss.item()


def demo_basic(rank, world_size, inputs, targets):
    wrapped = Wrapped(rank)
    print(f"Running basic DDP example on rank {rank}.")
    loss = wrapped.step(inputs, targets)
    return {"loss": loss, "parameters": [p.data for p in wrapped.model.parameters()]}
