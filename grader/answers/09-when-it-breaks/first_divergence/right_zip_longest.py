from collections import Counter
from itertools import zip_longest


def first_divergence(logs):
    for index, entries in enumerate(zip_longest(*logs)):
        if len(set(entries)) > 1:
            usual = Counter(entries).most_common(1)[0][0]
            return index, [r for r, entry in enumerate(entries) if entry != usual]
    return None
