# status: deadlock
# says: Horovod matches operations by their names
def metric_average(value, name):
    return hvd.allreduce(torch.tensor(value), name=f"{name}.{hvd.rank()}").item()
