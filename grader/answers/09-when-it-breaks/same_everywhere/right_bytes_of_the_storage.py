import hashlib


def same_everywhere(rank, size, tensors):
    digest = hashlib.sha3_256()
    for tensor in tensors:
        digest.update(f"[{tensor.dtype};{tensor.shape}]".encode())
        packed = tensor.detach().clone(memory_format=torch.contiguous_format)
        digest.update(bytes(packed.untyped_storage()))
    if rank:
        dist.send(torch.tensor(list(digest.digest()), dtype=torch.uint8), 0)
        verdict = torch.zeros(1, dtype=torch.bool)
        dist.recv(verdict, 0)
        return verdict.item()
    same = True
    for other in range(1, size):
        theirs = torch.empty(32, dtype=torch.uint8)
        dist.recv(theirs, other)
        same &= bytes(theirs.tolist()) == digest.digest()
    for other in range(1, size):
        dist.send(torch.tensor([same]), other)
    return same
