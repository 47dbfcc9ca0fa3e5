def metric_average(value, name):
    return hvd.allreduce(torch.tensor(value)).item()
