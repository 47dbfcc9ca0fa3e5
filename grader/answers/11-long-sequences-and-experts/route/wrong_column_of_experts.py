# hint: another shape
def route(logits, capacity):
    expert = logits.argmax(dim=1, keepdim=True)
    chosen = F.one_hot(expert.squeeze(1), logits.shape[1])
    slot = (chosen.cumsum(dim=0) * chosen).sum(dim=1, keepdim=True) - 1
    room = slot < capacity
    return torch.where(room, expert, -1), torch.where(room, slot, -1)
