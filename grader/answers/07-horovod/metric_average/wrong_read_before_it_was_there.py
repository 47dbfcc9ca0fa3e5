# hint: read before it was there
def metric_average(value, name):
    t = torch.tensor(value)
    hvd.allreduce_async_(t, name=name)
    return t.item()
