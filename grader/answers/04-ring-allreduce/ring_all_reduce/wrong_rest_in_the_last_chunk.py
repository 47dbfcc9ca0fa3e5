# hint: rest left out
def ring_all_reduce(rank, size, tensor):
    length = tensor.numel() // size
    flat = tensor.reshape(-1)
    chunks = [flat[i * length : (i + 1) * length] for i in range(size - 1)]
    chunks.append(flat[(size - 1) * length :])
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
    return tensor
