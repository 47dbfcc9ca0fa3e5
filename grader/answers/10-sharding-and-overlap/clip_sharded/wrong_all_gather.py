# hint: another collective
def clip_sharded(rank, size, pieces, max_norm):
    square = torch.tensor([sum((float(p.double().square().sum()) for p in pieces), 0.0)])
    squares = [torch.empty_like(square) for _ in range(size)]
    dist.all_gather(squares, square)
    norm = torch.cat(squares).sum().sqrt().item()
    for p in pieces:
        p.mul_(min(1.0, max_norm / (norm + 1e-6)))
    return norm
