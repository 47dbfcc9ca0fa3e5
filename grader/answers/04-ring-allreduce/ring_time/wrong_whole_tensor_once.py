# hint: whole tensor once
def ring_time(n_bytes, size, latency, bandwidth):
    return 2 * (size - 1) * latency + n_bytes / bandwidth
