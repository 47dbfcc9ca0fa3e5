# hint: latency once
def parameter_server_time(n_bytes, size, latency, bandwidth):
    return 2 * (size - 1) * n_bytes / bandwidth + latency
