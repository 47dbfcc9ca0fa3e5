# hint: numbered through
def route(logits, capacity):
    expert = logits.argmax(dim=1)
    chosen = F.one_hot(expert, logits.shape[1])
    slot = torch.arange(len(expert))
    room = slot < capacity
    return torch.where(room, expert, -1), torch.where(room, slot, -1)
