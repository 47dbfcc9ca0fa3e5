# hint: work, not bubble
def bubble_fraction(size, microbatches):
    return microbatches / (microbatches + size - 1)
