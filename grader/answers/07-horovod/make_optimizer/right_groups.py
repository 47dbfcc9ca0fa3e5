def make_optimizer(model, lr, momentum, compression, op):
    lr = hvd.broadcast_object(lr, root_rank=0, name="lr")
    for name, p in model.state_dict().items():
        hvd.broadcast_(p, root_rank=0, name=f"start.{name}")
    rate = lr if op == hvd.Adasum else lr * hvd.size()
    sgd = optim.SGD([{"params": [p]} for p in model.parameters()], lr=rate, momentum=momentum)
    hvd.broadcast_optimizer_state(sgd, root_rank=0)
    return hvd.DistributedOptimizer(sgd, named_parameters=list(model.named_parameters()), compression=compression,
                                    backward_passes_per_step=1, op=op, gradient_predivide_factor=1.0)
