# hint: tensor for number
def metric_average(value, name):
    return hvd.allreduce(torch.tensor(value), name=name).numpy().mean()
