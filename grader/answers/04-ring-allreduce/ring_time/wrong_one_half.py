# hint: one half of the ring
def ring_time(n_bytes, size, latency, bandwidth):
    return (size - 1) * (latency + n_bytes / (size * bandwidth))
