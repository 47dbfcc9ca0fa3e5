# hint: size workers
def parameter_server_time(n_bytes, size, latency, bandwidth):
    return 2 * (size * n_bytes / bandwidth + latency)
