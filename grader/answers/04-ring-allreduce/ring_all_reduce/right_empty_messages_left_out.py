def ring_all_reduce(rank, size, tensor):
    result = tensor.clone().view(-1)
    length = (result.numel() + size - 1) // size
    bounds = [(min(i * length, result.numel()), min((i + 1) * length, result.numel()))
              for i in range(size)]

    def hop(outgoing, incoming, add):
        a, b = bounds[outgoing % size]
        c, d = bounds[incoming % size]
        requests = []
        if b > a:
            requests.append(dist.isend(result[a:b].clone(), (rank + 1) % size))
        if d > c:
            buffer = torch.zeros(d - c, dtype=result.dtype)
            dist.recv(buffer, (rank - 1) % size)
            result[c:d] = result[c:d] + buffer if add else buffer
        for request in requests:
            request.wait()

    for step in range(size - 1):
        hop(rank - step, rank - step - 1, True)
    for step in range(size - 1):
        hop(rank + 1 - step, rank - step, False)
    return result.view(tensor.shape)
