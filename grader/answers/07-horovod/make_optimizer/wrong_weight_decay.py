# hint: not plain SGD
# says: DistributedOptimizer with weight decay
def make_optimizer(model, lr, momentum, compression, op):
    scale = 1 if op == hvd.Adasum else hvd.size()
    optimizer = optim.SGD(model.parameters(), lr=lr * scale, momentum=momentum, weight_decay=0.01)
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    return hvd.DistributedOptimizer(
        optimizer, named_parameters=model.named_parameters(), compression=compression, op=op
    )
