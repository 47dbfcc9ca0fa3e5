# hint: ended logs
def first_divergence(logs):
    for i in range(max(map(len, logs))):
        row = [log[i] if i < len(log) else None for log in logs]
        there = [entry for entry in row if entry is not None]
        usual = max(there, key=there.count)
        odd = [r for r, entry in enumerate(row) if entry != usual]
        if odd:
            return i, odd
    return None
