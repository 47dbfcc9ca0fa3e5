# status: error
# says: each needs a buffer of its own length
def ring_all_reduce(rank, size, tensor):
    chunks = list(torch.tensor_split(tensor.flatten(), size))
    left, right = (rank - 1) % size, (rank + 1) % size
    for step in range(2 * (size - 1)):
        outgoing, incoming = (rank - step) % size, (rank - step - 1) % size
        buffer = torch.empty_like(chunks[0])
        sending = dist.isend(chunks[outgoing], right)
        dist.irecv(buffer, left).wait()
        sending.wait()
        if step < size - 1:
            chunks[incoming] += buffer
        else:
            chunks[incoming].copy_(buffer)
    return torch.cat(chunks).view_as(tensor)
