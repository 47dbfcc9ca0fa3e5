# hint: None on some ranks
def metric_average(value, name):
    mean = hvd.allreduce(torch.tensor(value), name=name).item()
    if hvd.rank() == 0:
        return mean
