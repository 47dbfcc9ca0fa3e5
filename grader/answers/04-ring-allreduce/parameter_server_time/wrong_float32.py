# hint: single precision
def parameter_server_time(n_bytes, size, latency, bandwidth):
    return torch.tensor(2 * (size - 1) * n_bytes / bandwidth + 2 * latency).item()
