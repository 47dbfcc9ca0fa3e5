def first_divergence(logs):
    if all(log == logs[0] for log in logs):
        return None
    width = max(map(len, logs))
    padded = [list(log) + [None] * (width - len(log)) for log in logs]
    index = next(i for i in range(width) if any(p[i] != padded[0][i] for p in padded))
    column = [p[index] for p in padded]
    frequency = [column.count(entry) for entry in column]
    usual = column[frequency.index(max(frequency))]
    return index, sorted(r for r, entry in enumerate(column) if entry != usual)
