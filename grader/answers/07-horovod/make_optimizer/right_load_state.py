def make_optimizer(model, lr, momentum, compression, op):
    optimizer = optim.SGD(model.parameters(), lr, momentum)
    if op != hvd.Adasum:
        for group in optimizer.param_groups:
            group["lr"] *= hvd.size()
    state = hvd.broadcast_object((model.state_dict(), optimizer.state_dict()), root_rank=0)
    model.load_state_dict(state[0])
    optimizer.load_state_dict(state[1])
    return hvd.DistributedOptimizer(optimizer, model.named_parameters(), compression=compression, op=op)
