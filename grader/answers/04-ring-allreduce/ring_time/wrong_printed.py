# hint: no plain number
def ring_time(n_bytes, size, latency, bandwidth):
    print(2 * (size - 1) * (latency + n_bytes / (size * bandwidth)))
