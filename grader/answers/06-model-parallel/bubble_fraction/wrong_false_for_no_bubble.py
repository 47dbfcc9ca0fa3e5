# hint: bool for number
def bubble_fraction(size, microbatches):
    return size > 1 and (size - 1) / (microbatches + size - 1)
