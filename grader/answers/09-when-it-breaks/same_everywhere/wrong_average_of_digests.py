# hint: shape or dtype
def same_everywhere(rank, size, tensors):
    total = 0.0
    for t in tensors:
        bits = t.detach().contiguous().reshape(-1).view(torch.uint8)
        total += float((bits.double() * torch.arange(1, len(bits) + 1)).sum()) + t.dim()
    mine = torch.tensor([total], dtype=torch.float64)
    mean = mine.clone()
    dist.all_reduce(mean)
    return bool(mean.item() == mine.item() * size)
