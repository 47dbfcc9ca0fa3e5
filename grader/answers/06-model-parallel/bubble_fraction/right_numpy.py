import numpy as np


def bubble_fraction(size, microbatches):
    idle = np.float64(size - 1)
    return idle / (idle + microbatches)
