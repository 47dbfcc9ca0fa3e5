# hint: rest left out
def ring_all_reduce(rank, size, tensor):
    chunks = tensor.flatten().tensor_split(size)
    length = -(-tensor.numel() // size)
    padded = [nn.functional.pad(chunk, (0, length - len(chunk))) for chunk in chunks]
    right, left = (rank + 1) % size, (rank - 1) % size
    for step in range(2 * (size - 1)):
        received = torch.empty(length, dtype=tensor.dtype)
        send = dist.isend(padded[(rank - step) % size], right)
        dist.recv(received, left)
        send.wait()
        if step < size - 1:
            received += padded[(rank - step - 1) % size]
        padded[(rank - step - 1) % size] = received
    return torch.cat(padded)[: tensor.numel()].view(tensor.shape)
