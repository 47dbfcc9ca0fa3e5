# hint: shape ignored
def first_divergence(logs):
    for i in range(max(map(len, logs))):
        row = [log[i][0] if i < len(log) else None for log in logs]
        usual = max(row, key=row.count)
        odd = [r for r, entry in enumerate(row) if entry != usual]
        if odd:
            return i, odd
    return None
