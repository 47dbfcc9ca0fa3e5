# status: error
def metric_average(value, name):
    hvd.shutdown()
    return hvd.allreduce(torch.tensor(value), name=name).item()
