# hint: not plain SGD
def make_optimizer(model, lr, momentum, compression, op):
    scale = 1 if op == hvd.Adasum else hvd.size()
    optimizer = optim.Adam(model.parameters(), lr=lr * scale)
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    return hvd.DistributedOptimizer(optimizer, model.named_parameters(), compression, op=op)
