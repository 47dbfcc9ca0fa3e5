# hint: bubble against work
def bubble_fraction(size, microbatches):
    return (size - 1) / microbatches
