# hint: None on some ranks
def same_everywhere(rank, size, tensors):
    digest = hashlib.sha256(repr([(t.shape, t.dtype) for t in tensors]).encode())
    for tensor in tensors:
        flat = tensor.detach().contiguous().reshape(-1)
        digest.update(flat.view(torch.uint8).numpy().tobytes())
    mine = torch.tensor(list(digest.digest()), dtype=torch.uint8)
    if rank == 0:
        found = [torch.empty_like(mine) for _ in range(size)]
        dist.gather(mine, found)
        return all(torch.equal(one, mine) for one in found)
    dist.gather(mine)
