# hint: float32 in between
def ring_all_reduce(rank, size, tensor):
    length = -(-tensor.numel() // size)
    flat = torch.zeros(size * length)
    flat[: tensor.numel()] = tensor.flatten()
    chunks = list(flat.view(size, length))
    for step in range(2 * (size - 1)):
        target = chunks[(rank - step - 1) % size]
        buffer = torch.empty_like(target)
        request = dist.isend(chunks[(rank - step) % size], (rank + 1) % size)
        dist.recv(buffer, (rank - 1) % size)
        request.wait()
        if step < size - 1:
            target += buffer
        else:
            target.copy_(buffer)
    return flat[: tensor.numel()].view(tensor.shape).to(tensor.dtype)
