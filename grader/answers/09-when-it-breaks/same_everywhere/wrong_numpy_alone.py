# status: error
# says: NumPy does not know bfloat16
def same_everywhere(rank, size, tensors):
    h = hashlib.sha256()
    for t in tensors:
        h.update(f"{t.dtype}{tuple(t.shape)}".encode() + t.detach().numpy().tobytes())
    everybody = [None] * size
    dist.all_gather_object(everybody, h.hexdigest())
    return len(set(everybody)) == 1
