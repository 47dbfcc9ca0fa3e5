def run_blocking(rank, size):
    def first():
        t = torch.zeros(1).add_(1)
        dist.send(t, 1)
        return t.clone()

    def second():
        t = torch.zeros(1)
        buffer = t.new_empty(t.shape)
        dist.recv(buffer, 0)
        t.copy_(buffer)
        return t

    return [first, second][rank]()
