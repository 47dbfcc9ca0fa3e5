def route(logits, capacity):
    _, expert = logits.max(dim=-1)
    same = expert.unsqueeze(1) == expert.unsqueeze(0)
    slot = same.tril(-1).sum(dim=1)
    dropped = slot >= capacity
    return expert.masked_fill(dropped, -1), slot.masked_fill(dropped, -1)
