def same_everywhere(rank, size, tensors):
    h = hashlib.sha256()
    for t in tensors:
        flat = t.detach().reshape(-1).contiguous()
        h.update(f"{t.dtype};{list(t.shape)};".encode())
        for part in flat.view(torch.uint8).split(1 << 16):
            h.update(part.numpy().tobytes())
    mine = torch.tensor(list(h.digest()), dtype=torch.uint8)
    first = mine.clone()
    dist.broadcast(first, src=0)
    differs = torch.tensor([int(not torch.equal(first, mine))])
    dist.all_reduce(differs)
    return differs.item() == 0
