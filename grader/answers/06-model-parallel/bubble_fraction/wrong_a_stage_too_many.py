# hint: a stage too many
def bubble_fraction(size, microbatches):
    return size / (microbatches + size)
