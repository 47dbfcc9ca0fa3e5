def broadcast_from(rank, size, tensor, src):
    me = (rank - src) % size
    step = 1
    while step < size:
        if me < step and me + step < size:
            dist.send(tensor, (me + step + src) % size)
        elif step <= me < 2 * step:
            dist.recv(tensor, (me - step + src) % size)
        step *= 2
    return tensor
