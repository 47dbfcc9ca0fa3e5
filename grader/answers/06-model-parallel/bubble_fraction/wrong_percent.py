# hint: percent
def bubble_fraction(size, microbatches):
    return 100 * (size - 1) / (microbatches + size - 1)
