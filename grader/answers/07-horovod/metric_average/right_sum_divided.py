from horovod.torch import Sum, allreduce


def metric_average(value, name):
    total = allreduce(torch.tensor([value], dtype=torch.float64), op=Sum, name=name)
    return total.item() / hvd.size()
