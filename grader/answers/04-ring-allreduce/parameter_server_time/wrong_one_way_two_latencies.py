# hint: one way
def parameter_server_time(n_bytes, size, latency, bandwidth):
    return (size - 1) * n_bytes / bandwidth + 2 * latency
