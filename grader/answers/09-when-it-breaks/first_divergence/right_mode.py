import itertools
import statistics

def first_divergence(logs):
    class Ended:
        pass
    for i, column in enumerate(itertools.zip_longest(*logs)):
        if len({*column}) == 1:
            continue
        usual = statistics.mode(column)
        return i, [r for r, e in enumerate(column) if e != usual]
