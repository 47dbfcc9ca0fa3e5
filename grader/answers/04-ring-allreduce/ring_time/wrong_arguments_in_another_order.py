# hint: arguments in another order
def ring_time(n_bytes, size, bandwidth, latency):
    return 2 * (size - 1) * (latency + n_bytes / (size * bandwidth))
