# hint: logs changed
def first_divergence(logs):
    width = max(map(len, logs))
    for log in logs:
        while len(log) < width:
            log.append(None)
    for i in range(width):
        row = [log[i] for log in logs]
        usual = max(row, key=row.count)
        odd = [r for r, entry in enumerate(row) if entry != usual]
        if odd:
            return i, odd
    return None
