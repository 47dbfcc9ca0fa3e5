# hint: latency once
def ring_time(n_bytes, size, latency, bandwidth):
    return latency + 2 * (size - 1) * n_bytes / (size * bandwidth)
