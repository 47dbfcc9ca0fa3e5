def metric_average(value, name):
    (mean,) = hvd.grouped_allreduce([torch.tensor([value], dtype=torch.float64)], name=name, op=hvd.Average)
    return mean.tolist()[0]
