# hint: stops with the shortest
def first_divergence(logs):
    for index, entries in enumerate(zip(*logs)):
        usual = max(entries, key=entries.count)
        odd = [r for r, entry in enumerate(entries) if entry != usual]
        if odd:
            return index, odd
    return None
