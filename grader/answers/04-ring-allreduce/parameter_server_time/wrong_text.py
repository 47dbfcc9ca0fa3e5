# hint: no plain number
def parameter_server_time(n_bytes, size, latency, bandwidth):
    return f"{2 * (size - 1) * n_bytes / bandwidth + 2 * latency:.3f} s"
