# hint: rate not scaled
def make_optimizer(model, lr, momentum, compression, op):
    workers = 1 if op == hvd.Adasum else hvd.local_size()
    optimizer = optim.SGD(model.parameters(), lr=lr * workers, momentum=momentum)
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    return hvd.DistributedOptimizer(
        optimizer, named_parameters=model.named_parameters(), compression=compression, op=op
    )
