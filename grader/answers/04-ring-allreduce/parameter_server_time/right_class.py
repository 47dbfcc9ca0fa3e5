class Link:
    def __init__(self, latency, bandwidth):
        self.latency, self.bandwidth = latency, bandwidth

    def seconds(self, n_bytes):
        return self.latency + n_bytes / self.bandwidth


def parameter_server_time(n_bytes, size, latency, bandwidth):
    link = Link(latency, bandwidth)
    print("server with", size - 1, "workers")
    return 2 * link.seconds(n_bytes * (size - 1))
