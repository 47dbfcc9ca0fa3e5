import sys


def make_optimizer(model, lr, momentum, compression, op):
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            hvd.broadcast_(parameter.data, root_rank=0, name=name)
    optimizer = optim.SGD([{"params": list(model.parameters())}], lr=lr, momentum=momentum)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    if op != hvd.Adasum:
        for group in optimizer.param_groups:
            group["lr"] = group["lr"] * hvd.size()
    print("rate", optimizer.param_groups[0]["lr"], file=sys.stderr)
    return hvd.DistributedOptimizer(
        optimizer, named_parameters=model.named_parameters(), compression=compression, op=op
    )
