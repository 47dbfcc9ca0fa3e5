# status: deadlock
# says: shapes
def metric_average(value, name):
    figure = torch.full((1 + hvd.rank(),), value)
    return hvd.allreduce(figure, name=name)[0].item()
