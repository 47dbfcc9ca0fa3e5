# hint: rounded
def bubble_fraction(size, microbatches):
    return round((size - 1) / (microbatches + size - 1), 3)
