def clip_sharded(rank, size, pieces, max_norm):
    own = torch.nn.utils.get_total_norm(pieces) if pieces else torch.tensor(0.0)
    square = own.reshape(1).to(torch.float32) ** 2
    if size > 1:
        dist.all_reduce(square, op=dist.ReduceOp.SUM)
    norm = square.item() ** 0.5
    torch._foreach_mul_(pieces, min(max_norm / (norm + 1e-6), 1)) if pieces else None
    return norm
