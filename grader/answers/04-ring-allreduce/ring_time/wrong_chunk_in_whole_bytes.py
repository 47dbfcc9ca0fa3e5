# hint: rounded
# says: math.ceil
import math


def ring_time(n_bytes, size, latency, bandwidth):
    return 2 * (size - 1) * (latency + math.ceil(n_bytes / size) / bandwidth)
