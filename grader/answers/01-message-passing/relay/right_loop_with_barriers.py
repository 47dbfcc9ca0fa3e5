def relay(rank, size, tensor):
    for sender in range(size - 1):
        if rank == sender:
            dist.send(tensor, sender + 1)
        elif rank == sender + 1:
            buffer = torch.empty(tensor.shape, dtype=tensor.dtype)
            dist.recv(buffer, sender)
            tensor += buffer
        dist.barrier()
    return tensor
