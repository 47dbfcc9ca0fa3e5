def gathered(tensor, size):
    parts = [torch.empty_like(tensor) for _ in range(size)]
    dist.all_gather(parts, tensor)
    return torch.cat(parts)


def train(rank, world_size, batches, lr):
    model = ToyModel()
    state = [model.state_dict()]
    dist.broadcast_object_list(state, src=0)
    model.load_state_dict(state[0])
    for inputs, targets in batches:
        x, y = gathered(inputs, world_size), gathered(targets, world_size)
        loss = ((model(x) - y) ** 2).mean()
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        with torch.no_grad():
            for p, g in zip(model.parameters(), gradients):
                p.sub_(lr * g)
    return list(model.parameters())
