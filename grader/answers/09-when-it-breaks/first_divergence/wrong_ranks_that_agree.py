# hint: ranks that agree
def first_divergence(logs):
    for index in range(max(map(len, logs), default=0)):
        entries = [log[index] if index < len(log) else None for log in logs]
        usual = max(entries, key=entries.count)
        if any(entry != usual for entry in entries):
            return index, [rank for rank, entry in enumerate(entries) if entry == usual]
    return None
