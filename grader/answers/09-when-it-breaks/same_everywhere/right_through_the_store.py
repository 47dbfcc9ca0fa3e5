import uuid
def same_everywhere(rank, size, tensors):
    from torch.distributed.distributed_c10d import _get_default_store
    name = [uuid.uuid4().hex]
    dist.broadcast_object_list(name, src=0)
    store = dist.PrefixStore(name[0], _get_default_store())
    h = hashlib.sha256()
    for t in tensors:
        h.update(f"{t.dtype}{tuple(t.shape)}".encode())
        h.update(t.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    store.set(str(rank), h.hexdigest())
    return len({store.get(str(r)) for r in range(size)}) == 1
