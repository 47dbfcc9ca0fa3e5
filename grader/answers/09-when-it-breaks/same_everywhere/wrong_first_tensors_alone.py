# hint: not all of it
def same_everywhere(rank, size, tensors):
    digest = hashlib.sha256(str(len(tensors)).encode())
    for tensor in tensors[:16]:
        plain = tensor.detach().cpu().contiguous()
        digest.update(f"{plain.dtype} {tuple(plain.shape)} ".encode())
        digest.update(plain.reshape(-1).view(torch.uint8).numpy().tobytes())
    mine = torch.frombuffer(bytearray(digest.digest()), dtype=torch.uint8)
    everybody = [torch.empty_like(mine) for _ in range(size)]
    dist.all_gather(everybody, mine)
    return all(torch.equal(other, mine) for other in everybody)
