# hint: another place
def first_divergence(logs):
    for i in range(max(map(len, logs), default=0)):
        col = [(log[i][0], sorted(log[i][1])) if i < len(log) else None for log in logs]
        best = max(col, key=col.count)
        odd = [r for r, e in enumerate(col) if e != best]
        if odd:
            return i, odd
    return None
