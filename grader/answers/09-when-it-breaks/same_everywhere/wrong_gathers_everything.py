# hint: too many bytes
def same_everywhere(rank, size, tensors):
    mine = [
        (str(t.dtype), tuple(t.shape), t.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
        for t in tensors
    ]
    everybody = [None] * size
    dist.all_gather_object(everybody, mine)
    return all(other == mine for other in everybody)
