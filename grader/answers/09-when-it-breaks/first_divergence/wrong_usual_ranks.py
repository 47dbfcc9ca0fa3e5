# says: first_divergence returns
def first_divergence(logs):
    for i in range(max(map(len, logs))):
        row = [log[i] if i < len(log) else None for log in logs]
        usual = max(row, key=row.count)
        if len(set(row)) > 1:
            return i, [r for r, entry in enumerate(row) if entry == usual]
    return None
