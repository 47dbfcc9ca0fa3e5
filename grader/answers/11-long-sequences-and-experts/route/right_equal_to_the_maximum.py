def route(logits, capacity):
    best = logits == logits.amax(1, keepdim=True)
    expert = (best.cumsum(1) == 0).sum(1)
    hot = torch.zeros_like(logits, dtype=torch.int64).scatter_(1, expert[:, None], 1)
    slot = hot.cumsum(0).gather(1, expert[:, None])[:, 0] - 1
    keep = (slot < capacity).long()
    return expert * keep - (1 - keep), slot * keep - (1 - keep)
