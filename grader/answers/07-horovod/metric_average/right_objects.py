def metric_average(value, name):
    values = hvd.allgather_object(value, name=name)
    return sum(values) / len(values)
