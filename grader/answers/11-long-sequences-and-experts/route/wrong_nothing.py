# hint: nothing returned
# says: where a tuple of 2 items was expected
def route(logits, capacity):
    expert = logits.argmax(dim=1)
    chosen = F.one_hot(expert, logits.shape[1])
    slot = (chosen.cumsum(dim=0) * chosen).sum(dim=1) - 1
    room = slot < capacity
    result = torch.where(room, expert, -1), torch.where(room, slot, -1)
