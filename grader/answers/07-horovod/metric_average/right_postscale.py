def metric_average(value, name):
    out = hvd.allreduce(torch.as_tensor(value).reshape(1, 1), name=name, op=hvd.Sum, postscale_factor=1 / hvd.size())
    return out.squeeze().item()
