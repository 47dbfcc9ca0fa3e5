# hint: another unit
def parameter_server_time(n_bytes, size, latency, bandwidth):
    return 1000 * (2 * (size - 1) * n_bytes / bandwidth + 2 * latency)
