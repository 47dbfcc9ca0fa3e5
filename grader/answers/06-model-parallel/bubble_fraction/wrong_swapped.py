# hint: arguments in another order
def bubble_fraction(microbatches, size):
    return (size - 1) / (microbatches + size - 1)
