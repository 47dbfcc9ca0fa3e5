from functools import partial, reduce

from torch.func import functional_call, grad


def train(rank, world_size, batches, lr):
    model = ToyModel()
    begin = {name: p.detach().clone() for name, p in model.named_parameters()}
    for tensor in begin.values():
        dist.broadcast(tensor, 0)

    def loss(parameters, inputs, targets):
        return nn.functional.mse_loss(functional_call(model, parameters, (inputs,)), targets)

    def step(lr, parameters, batch):
        gradients = grad(loss)(parameters, *batch)
        flat = torch.cat([g.flatten() for g in gradients.values()])
        dist.all_reduce(flat)
        pieces = (flat / world_size).split([p.numel() for p in parameters.values()])
        named = zip(parameters.items(), pieces, strict=True)
        return {name: p - lr * piece.view_as(p) for (name, p), piece in named}

    return list(reduce(partial(step, lr), batches, begin).values())
