import math

import torch.nn.functional as F


def ring_all_reduce(rank, size, tensor):
    per_chunk = math.ceil(tensor.numel() / size)
    flat = F.pad(tensor.flatten(), (0, per_chunk * size - tensor.numel()))
    rows = flat.reshape(size, per_chunk).clone()
    for step in range(2 * (size - 1)):
        first_half = step < size - 1
        send, receive = (rank - step) % size, (rank - step - 1) % size
        if not first_half:
            send, receive = (send, receive)
        arrived = rows[receive].clone()
        operations = [
            dist.P2POp(dist.isend, rows[send].contiguous(), (rank + 1) % size),
            dist.P2POp(dist.irecv, arrived, (rank - 1) % size),
        ]
        for request in dist.batch_isend_irecv(operations):
            request.wait()
        if first_half:
            rows[receive] += arrived
        else:
            rows[receive] = arrived
    return rows.flatten()[: tensor.numel()].reshape(tensor.shape)
