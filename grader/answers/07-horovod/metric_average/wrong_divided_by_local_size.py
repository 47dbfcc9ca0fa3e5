# hint: sum for mean
def metric_average(value, name):
    total = hvd.allreduce(torch.tensor(value), name=name, op=hvd.Sum)
    return total.item() / hvd.local_size()
