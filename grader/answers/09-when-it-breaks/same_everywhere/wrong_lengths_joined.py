# hint: shape or dtype
def same_everywhere(rank, size, tensors):
    told = hashlib.sha256(str(len(tensors)).encode())
    for tensor in tensors:
        told.update((str(tensor.dtype) + "".join(map(str, tensor.shape))).encode())
    for tensor in tensors:
        whole = tensor.detach().contiguous().reshape(-1)
        told.update(whole.view(torch.uint8).numpy().tobytes())
    mine = torch.tensor(list(told.digest()), dtype=torch.uint8)
    every = [torch.empty_like(mine) for _ in range(size)]
    dist.all_gather(every, mine)
    return all(torch.equal(mine, other) for other in every)
