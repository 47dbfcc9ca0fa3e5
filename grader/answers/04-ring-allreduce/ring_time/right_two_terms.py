def ring_time(n_bytes, size, latency, bandwidth):
    waiting = 2 * (size - 1) * latency
    sending = 2 * (size - 1) / size * n_bytes / bandwidth
    return waiting + sending
