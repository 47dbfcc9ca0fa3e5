# hint: one worker's bytes
def parameter_server_time(n_bytes, size, latency, bandwidth):
    return 2 * (latency + n_bytes / bandwidth)
