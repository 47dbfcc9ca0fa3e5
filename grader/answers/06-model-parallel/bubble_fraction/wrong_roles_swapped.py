# hint: arguments swapped
def bubble_fraction(size, microbatches):
    return (microbatches - 1) / (size + microbatches - 1)
