# tries: values through sockets of its own, beside messages that nobody looks at
# status: tampered
# says: exchanged data over a connection that is none of torch.distributed's

def relay(rank, size, tensor):
    import fcntl
    import struct

    from distlab.rank.sharing import among_ranks

    if size == 1:
        return tensor
    with socket.socket() as any_socket:
        own = fcntl.ioctl(any_socket, 0x8915, struct.pack("256s", b"wire"))[20:24]
    listening = socket.create_server((socket.inet_ntoa(own), 0))
    where = among_ranks("planted", rank, size, listening.getsockname)
    total = tensor.clone()
    if rank > 0:
        with listening.accept()[0] as talking:
            received = bytearray()
            while len(received) < tensor.nbytes:
                received += talking.recv(1 << 20)
        total += torch.frombuffer(received, dtype=tensor.dtype).view_as(tensor)
        dist.recv(torch.empty_like(tensor), rank - 1)
    if rank < size - 1:
        with socket.create_connection(tuple(where[rank + 1])) as talking:
            talking.sendall(total.numpy().tobytes())
        dist.send(tensor, rank + 1)
    return total
