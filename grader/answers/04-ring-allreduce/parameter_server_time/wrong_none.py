# hint: no plain number
def parameter_server_time(n_bytes, size, latency, bandwidth):
    seconds = 2 * (size - 1) * n_bytes / bandwidth + 2 * latency
