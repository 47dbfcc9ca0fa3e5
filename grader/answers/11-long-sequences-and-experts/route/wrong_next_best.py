# hint: another expert
def route(logits, capacity):
    left = [capacity] * logits.shape[1]
    expert, slot = torch.full((2, len(logits)), -1)
    for t, row in enumerate(logits):
        for e in row.argsort(descending=True, stable=True).tolist():
            if left[e] > 0:
                expert[t], slot[t] = e, capacity - left[e]
                left[e] -= 1
                break
    return expert, slot
