# hint: not all of it
import hashlib


def same_everywhere(rank, size, tensors):
    h = hashlib.sha256()
    for t in tensors:
        if not t.is_floating_point():
            continue
        h.update(f"{t.dtype}|{tuple(t.shape)}|".encode())
        h.update(t.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    out = [None] * size
    dist.all_gather_object(out, h.digest())
    return len(set(out)) == 1
