# hint: never the same
def same_everywhere(rank, size, tensors):
    mine = hash(tuple(
        (str(t.dtype), tuple(t.shape), t.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
        for t in tensors
    ))
    everybody = [torch.zeros(1, dtype=torch.int64) for _ in range(size)]
    dist.all_gather(everybody, torch.tensor([mine]))
    return all(other.item() == mine for other in everybody)
