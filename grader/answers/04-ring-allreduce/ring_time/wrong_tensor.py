# hint: no plain number
def ring_time(n_bytes, size, latency, bandwidth):
    return torch.tensor(2 * (size - 1) * (latency + n_bytes / (size * bandwidth)))
