# hint: handle
def metric_average(value, name):
    return hvd.allreduce_async(torch.tensor(value), name=name)
