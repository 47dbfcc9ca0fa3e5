# hint: no pair
def first_divergence(logs):
    for i in range(max(map(len, logs))):
        row = [log[i] if i < len(log) else None for log in logs]
        if len(set(row)) > 1:
            return i
    return None
