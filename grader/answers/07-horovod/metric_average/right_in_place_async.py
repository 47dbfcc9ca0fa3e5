import sys


def metric_average(value, name):
    figure = torch.full((1,), value)
    handle = hvd.allreduce_async_(figure, name=name, op=hvd.Average)
    print("averaging", name, file=sys.stderr)
    hvd.synchronize(handle)
    return figure.tolist()[0]
