# hint: slot first
def route(logits, capacity):
    expert = logits.argmax(dim=1)
    chosen = F.one_hot(expert, logits.shape[1])
    slot = (chosen.cumsum(dim=0) * chosen).sum(dim=1) - 1
    full = slot >= capacity
    return slot.masked_fill(full, -1), expert.masked_fill(full, -1)
