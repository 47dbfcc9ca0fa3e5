# hint: without room
def route(logits, capacity):
    expert = logits.argmax(dim=1)
    chosen = F.one_hot(expert, logits.shape[1])
    slot = (chosen.cumsum(dim=0) * chosen).sum(dim=1) - 1
    room = slot < capacity
    return torch.where(room, expert, -1), slot
