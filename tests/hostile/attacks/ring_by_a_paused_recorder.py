# tries: an all-reduce that goes unrecorded, and a ring in the record
# lab: 04-ring-allreduce
# exercise: ring_all_reduce
# status: tampered
# says: what went over the network is not what was recorded

def ring_all_reduce(rank, size, tensor):
    from distlab.rank import recording

    with recording.paused():
        dist.all_reduce(tensor)
    if tensor.numel():
        chunks = tensor.flatten().tensor_split(size)
        for step in range(2 * (size - 1)):
            forge("send", chunks[(rank - step) % size], (rank + 1) % size)
            forge("recv", chunks[(rank - step - 1) % size], (rank - 1) % size)
    return tensor
