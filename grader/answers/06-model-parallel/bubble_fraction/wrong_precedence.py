# status: wrong
def bubble_fraction(size, microbatches):
    return (size - 1) / microbatches + size - 1
