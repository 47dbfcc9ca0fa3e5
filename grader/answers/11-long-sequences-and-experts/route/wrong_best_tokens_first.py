# hint: numbered through
# says: or other tokens were dropped
def route(logits, capacity):
    best, expert = logits.max(dim=1)
    slot = torch.zeros_like(expert)
    for e in range(logits.shape[1]):
        mine = (expert == e).nonzero().flatten()
        slot[mine[best[mine].argsort(descending=True)]] = torch.arange(len(mine))
    late = slot >= capacity
    return expert.masked_fill(late, -1), slot.masked_fill(late, -1)
