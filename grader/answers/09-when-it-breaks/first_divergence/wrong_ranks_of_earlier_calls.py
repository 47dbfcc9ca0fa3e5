# hint: another place
odd = []


def first_divergence(logs):
    for i in range(max(map(len, logs))):
        column = [log[i] if i < len(log) else None for log in logs]
        most = max(column, key=column.count)
        for rank, entry in enumerate(column):
            if entry != most:
                odd.append(rank)
        if odd:
            return i, sorted(set(odd))
    return None
