import functools
@functools.cache
def _chain(size):
    return {r: (r - 1, r + 1) for r in range(size)}
@torch.no_grad()
def relay(rank, size, tensor):
    before, after = _chain(size)[rank]
    total = tensor.clone()
    if before >= 0:
        got = torch.empty_like(total)
        dist.recv(got, before)
        total += got
    if after < size:
        dist.send(total, after)
    return total
