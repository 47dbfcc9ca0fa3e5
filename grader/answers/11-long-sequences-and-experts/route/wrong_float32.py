# hint: another expert
def route(logits, capacity):
    e = logits.float().argmax(1)
    same = e[:, None] == e[None, :]
    slot = same.tril(-1).sum(1)
    gone = slot >= capacity
    return e.masked_fill(gone, -1), slot.masked_fill(gone, -1)
