def metric_average(value, name):
    everybody = hvd.allgather(torch.tensor([value]), name=name)
    return float(everybody.mean())
