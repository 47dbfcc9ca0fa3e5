# hint: one slot too many
def bubble_fraction(size, microbatches):
    return (size - 1) / (microbatches + size)
