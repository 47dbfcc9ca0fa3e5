# hint: half precision
def metric_average(value, name):
    return hvd.allreduce(torch.tensor(value), name=name, compression=hvd.Compression.fp16).item()
