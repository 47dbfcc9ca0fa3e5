# hint: latency once
def ring_time(n_bytes, size, latency, bandwidth):
    return 2 * (size - 1) / size * n_bytes / bandwidth
