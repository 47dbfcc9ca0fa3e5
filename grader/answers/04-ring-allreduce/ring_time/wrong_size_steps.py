# hint: size steps
def ring_time(n_bytes, size, latency, bandwidth):
    return 2 * size * (latency + n_bytes / size / bandwidth)
