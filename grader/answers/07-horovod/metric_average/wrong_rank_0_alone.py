# status: deadlock
# says: without calling it
def metric_average(value, name):
    if hvd.rank() == 0:
        return hvd.allreduce(torch.tensor(value), name=name).item()
    return value
