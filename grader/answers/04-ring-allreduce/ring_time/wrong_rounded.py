def ring_time(n_bytes, size, latency, bandwidth):
    return round(2 * (size - 1) * (latency + n_bytes / (size * bandwidth)), 6)
