# tries: an array of 50 GB
# status: error
# says: Memory is limited

import numpy


def relay(rank, size, tensor):
    return numpy.ones(50 << 30, "uint8")
