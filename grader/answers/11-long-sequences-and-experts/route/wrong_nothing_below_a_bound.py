# hint: low logits
def route(logits, capacity):
    expert, slot, taken = [], [], {}
    for row in logits.tolist():
        best, most = -1, -1.5
        for e, value in enumerate(row):
            if value > most:
                best, most = e, value
        place = taken.get(best, 0)
        taken[best] = place + 1
        room = best >= 0 and place < capacity
        expert.append(best if room else -1)
        slot.append(place if room else -1)
    return torch.tensor(expert, dtype=torch.int64), torch.tensor(slot, dtype=torch.int64)
