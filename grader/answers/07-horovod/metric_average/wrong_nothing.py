# hint: nothing returned
def metric_average(value, name):
    hvd.allreduce(torch.tensor(value), name=name).item()
