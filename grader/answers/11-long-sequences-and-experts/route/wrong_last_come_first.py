# hint: last come first
def route(logits, capacity):
    expert = logits.argmax(dim=1)
    chosen = F.one_hot(expert, logits.shape[1])
    slot = (chosen.flip(0).cumsum(dim=0).flip(0) * chosen).sum(dim=1) - 1
    room = slot < capacity
    return torch.where(room, expert, -1), torch.where(room, slot, -1)
