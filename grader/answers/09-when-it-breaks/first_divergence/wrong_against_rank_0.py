# hint: ranks against rank 0
# says: rank 0 returned 2 items at [1] where 1 item was expected
def first_divergence(logs):
    for i in range(max(map(len, logs))):
        row = [log[i] if i < len(log) else None for log in logs]
        odd = [r for r, entry in enumerate(row) if entry != row[0]]
        if odd:
            return i, odd
    return None
