# hint: all ranks' bytes
def ring_time(n_bytes, size, latency, bandwidth):
    return size * 2 * (size - 1) * (latency + n_bytes / (size * bandwidth))
