# status: error
def route(logits, capacity):
    rows = [row.argmax() for row in logits]
    expert = torch.stack(rows)

    chosen = F.one_hot(expert, logits.shape[1])
    slot = (chosen.cumsum(dim=0) * chosen).sum(dim=1) - 1
    room = slot < capacity
    return torch.where(room, expert, -1), torch.where(room, slot, -1)
