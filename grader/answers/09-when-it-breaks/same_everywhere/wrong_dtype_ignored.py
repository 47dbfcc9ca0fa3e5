# status: wrong
def same_everywhere(rank, size, tensors):
    h = hashlib.sha256(str(len(tensors)).encode())
    for t in tensors:
        h.update(str(tuple(t.shape)).encode())
        h.update(t.detach().double().contiguous().numpy().tobytes() if not t.is_complex()
                 else torch.view_as_real(t.detach()).contiguous().numpy().tobytes())
    everybody = [None] * size
    dist.all_gather_object(everybody, h.hexdigest())
    return len(set(everybody)) == 1
