import time


def metric_average(value, name):
    figure = torch.tensor([value])
    handle = hvd.allreduce_async_(figure, name=name)
    while not hvd.poll(handle):
        time.sleep(0.001)
    return figure.item()
