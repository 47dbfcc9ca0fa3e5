# hint: rank 0's value
def metric_average(value, name):
    return hvd.broadcast(torch.tensor(value), root_rank=0, name=name).item()
