def ring_all_reduce(rank, size, tensor):
    """Chunks travel as their bytes, whatever they hold."""
    flat = tensor.flatten()
    padded = torch.cat([flat, flat.new_zeros(-flat.numel() % size)])
    chunks = list(padded.view(size, -1).clone())
    for step in range(2 * (size - 1)):
        send, receive = (rank - step) % size, (rank - step - 1) % size
        came = torch.empty_like(chunks[receive])
        request = dist.isend(chunks[send].view(torch.uint8), (rank + 1) % size)
        dist.recv(came.view(torch.uint8), (rank - 1) % size)
        request.wait()
        chunks[receive] = chunks[receive] + came if step < size - 1 else came
    return torch.cat(chunks)[: flat.numel()].view(tensor.shape)
