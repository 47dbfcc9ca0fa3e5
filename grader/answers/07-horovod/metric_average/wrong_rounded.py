# hint: rounded to some digits
def metric_average(value, name):
    return round(hvd.allreduce(torch.tensor(value), name=name).item(), 4)
