# hint: own value
def metric_average(value, name):
    hvd.allreduce(torch.tensor(value), name=name)
    return value
