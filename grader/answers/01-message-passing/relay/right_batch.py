def _message(operation, tensor, peer):
    for request in dist.batch_isend_irecv([dist.P2POp(operation, tensor, peer)]):
        request.wait()


def relay(rank, size, tensor):
    if rank > 0:
        received = torch.empty_like(tensor)
        _message(dist.irecv, received, rank - 1)
        tensor += received
    if rank < dist.get_world_size() - 1:
        _message(dist.isend, tensor, rank + 1)
    return tensor
