# says: earlier call
KEPT = {}


def broadcast_from(rank, size, tensor, src):
    buffer = KEPT.setdefault((tensor.shape, tensor.dtype), torch.empty_like(tensor))
    buffer.copy_(tensor)
    dist.broadcast(buffer, src)
    return buffer
