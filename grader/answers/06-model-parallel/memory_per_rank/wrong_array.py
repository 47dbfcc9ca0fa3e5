# hint: no plain number
import numpy as np


def memory_per_rank(parameters, size, stage):
    parts = np.array([12.0, 2.0, 2.0]) * parameters
    parts[:stage] /= size
    return parts.sum(keepdims=True)
