def route(logits, capacity):
    taken = [0] * logits.shape[1]
    expert, slot = [], []
    for row in logits:
        best = int(row.argmax())
        if taken[best] < capacity:
            expert.append(best)
            slot.append(taken[best])
        else:
            expert.append(-1)
            slot.append(-1)
        taken[best] += 1
    return torch.tensor(expert, dtype=torch.int64), torch.tensor(slot, dtype=torch.int64)
