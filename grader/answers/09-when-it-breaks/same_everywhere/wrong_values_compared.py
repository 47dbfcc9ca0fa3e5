# hint: NaN
def same_everywhere(rank, size, tensors):
    same = torch.ones(1)
    first = [None]
    dist.broadcast_object_list(first, src=0)
    counts = torch.tensor([len(tensors)])
    least, most = counts.clone(), counts.clone()
    dist.all_reduce(least, op=dist.ReduceOp.MIN)
    dist.all_reduce(most, op=dist.ReduceOp.MAX)
    if least != most:
        return False
    for t in tensors:
        same *= float((t.detach() == t.detach()).all())
    h = hashlib.sha256()
    for t in tensors:
        h.update(f"{t.dtype}{tuple(t.shape)}".encode())
        h.update((t.detach() + 0).contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    everybody = [None] * size
    dist.all_gather_object(everybody, h.hexdigest())
    return bool(same.item()) and len(set(everybody)) == 1
