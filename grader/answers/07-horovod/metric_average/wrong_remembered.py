# status: deadlock
# says: but rank 0 has already returned without calling it
import functools


@functools.lru_cache
def metric_average(value, name):
    return hvd.allreduce(torch.tensor(value), name=name).item()
