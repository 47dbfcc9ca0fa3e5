def make_optimizer(model, lr, momentum, compression, op):
    weights = hvd.broadcast_object(model.state_dict(), root_rank=0, name="weights")
    model.load_state_dict(weights)
    optimizer = optim.SGD(
        model.parameters(), lr=lr * (hvd.size() if op != hvd.Adasum else 1), momentum=momentum
    )
    state = hvd.broadcast_object(optimizer.state_dict(), root_rank=0, name="optimizer")
    optimizer.load_state_dict(state)
    return hvd.DistributedOptimizer(
        optimizer, named_parameters=model.named_parameters(), op=op, compression=compression
    )
