import warnings


def ring_time(n_bytes, size, latency, bandwidth):
    warnings.warn("counting")
    chunk = n_bytes / size
    seconds = 0.0
    if size < 1000:
        for step in range(2 * (size - 1)):
            seconds += latency + chunk / bandwidth
        return seconds
    return (size - 1) * (latency + chunk / bandwidth) * 2
