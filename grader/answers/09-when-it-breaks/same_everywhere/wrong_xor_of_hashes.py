# hint: order lost
def same_everywhere(rank, size, tensors):
    total = 0
    for t in tensors:
        flat = t.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        h = hashlib.sha256(f"{t.dtype}{tuple(t.shape)}".encode() + flat)
        total ^= int.from_bytes(h.digest()[:7], "little")
    total += len(tensors) << 56
    everybody = [torch.zeros(1, dtype=torch.int64) for _ in range(size)]
    dist.all_gather(everybody, torch.tensor([total]))
    return all(other.item() == total for other in everybody)
