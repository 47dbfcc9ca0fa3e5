from horovod.torch import Adasum, DistributedOptimizer, size
from horovod.torch import broadcast_optimizer_state, broadcast_parameters


def make_optimizer(model, lr, momentum, compression, op):
    """Wrapped first, broadcast afterwards."""
    if op != Adasum:
        lr *= size()
    optimizer = DistributedOptimizer(
        torch.optim.SGD(model.parameters(), lr, momentum),
        list(model.named_parameters()), compression, op=op,
    )  # fmt: skip
    broadcast_parameters(list(model.named_parameters()), 0)
    broadcast_optimizer_state(optimizer, 0)
    return optimizer
