# hint: arguments swapped
def bubble_fraction(microbatches, size):
    return (size - 1) / (microbatches + size - 1)
