# hint: rounded
def metric_average(value, name):
    return float(hvd.allreduce(torch.tensor(int(value)), name=name, op=hvd.Sum).item())
