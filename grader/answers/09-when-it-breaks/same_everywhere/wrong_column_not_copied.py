# status: error
# hint: bytes apart
def same_everywhere(rank, size, tensors):
    digest = hashlib.sha256()
    for tensor in tensors:
        digest.update(f"{tensor.dtype}{tuple(tensor.shape)};".encode())
        digest.update(tensor.detach().reshape(-1).view(torch.uint8).numpy().tobytes())
    digests = [None] * size
    dist.all_gather_object(digests, digest.digest())
    return len(set(digests)) == 1
