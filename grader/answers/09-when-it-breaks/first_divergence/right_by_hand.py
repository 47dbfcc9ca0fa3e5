def first_divergence(logs):
    longest = max(len(log) for log in logs)
    for i in range(longest):
        row = []
        for log in logs:
            row.append(log[i] if i < len(log) else None)
        best, most = 0, 0
        for r, entry in enumerate(row):
            if row.count(entry) > most:
                best, most = r, row.count(entry)
        odd = [r for r in range(len(row)) if row[r] != row[best]]
        if odd:
            return (i, odd)
