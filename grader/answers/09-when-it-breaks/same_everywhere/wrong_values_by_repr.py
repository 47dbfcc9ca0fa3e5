# hint: not all of it
def same_everywhere(rank, size, tensors):
    text = repr([(t.dtype, tuple(t.shape), t.detach().tolist() if t.numel() < 10 else str(t.detach())) for t in tensors])
    everybody = [None] * size
    dist.all_gather_object(everybody, hashlib.sha256(text.encode()).hexdigest())
    return len(set(everybody)) == 1
