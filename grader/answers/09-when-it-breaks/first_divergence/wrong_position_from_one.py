# hint: another place
def first_divergence(logs):
    for i in range(max(map(len, logs))):
        row = [log[i] if i < len(log) else None for log in logs]
        usual = max(row, key=row.count)
        odd = [r for r, entry in enumerate(row) if entry != usual]
        if odd:
            return i + 1, odd
    return None
