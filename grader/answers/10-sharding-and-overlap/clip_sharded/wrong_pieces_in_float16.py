# hint: pieces nearly right
def clip_sharded(rank, size, pieces, max_norm):
    squares = torch.tensor([sum(p.double().square().sum().item() for p in pieces)])
    dist.all_reduce(squares)
    norm = squares.sqrt().item()
    for p in pieces:
        p.copy_(p.half() * min(1.0, max_norm / (norm + 1e-6)))
    return norm
