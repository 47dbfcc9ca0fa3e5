import numpy as np

def first_divergence(logs):
    longest = max((len(l) for l in logs), default=0)
    for i in np.arange(longest):
        col = [log[i] if i < len(log) else None for log in logs]
        best = max(col, key=lambda e: (col.count(e), -col.index(e)))
        odd = [r for r in np.arange(len(logs)) if col[r] != best]
        if odd:
            return i, odd
    return None
