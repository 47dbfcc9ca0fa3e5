# hint: another number of workers
def metric_average(value, name):
    return hvd.allreduce(torch.tensor(value), name=name, op=hvd.Sum).item() / 2
