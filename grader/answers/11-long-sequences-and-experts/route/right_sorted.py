def route(logits, capacity):
    expert = torch.argmax(logits, -1)
    ordered, order = torch.sort(expert, stable=True)
    counts = torch.bincount(expert, minlength=logits.shape[1])
    begins = counts.cumsum(0) - counts
    slot = torch.empty_like(expert)
    slot[order] = torch.arange(len(expert)) - begins[ordered]
    room = slot < capacity
    slot[~room] = -1
    return torch.where(room, expert, torch.tensor(-1)), slot
