# status: error
import torch.distributed as dist


def metric_average(value, name):
    figure = torch.tensor(value)
    dist.all_reduce(figure)
    return figure.item() / hvd.size()
