# hint: divided twice
def metric_average(value, name):
    return hvd.allreduce(torch.tensor(value), name=name).item() / hvd.size()
