# hint: logs changed
def first_divergence(logs):
    index = 0
    while any(logs):
        row = [log.pop(0) if log else None for log in logs]
        usual = max(row, key=row.count)
        odd = [r for r, entry in enumerate(row) if entry != usual]
        if odd:
            return index, odd
        index += 1
    return None
