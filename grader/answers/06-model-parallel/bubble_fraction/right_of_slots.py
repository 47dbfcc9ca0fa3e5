def bubble_fraction(size, microbatches):
    slots = microbatches + size - 1
    return 1 - microbatches / slots
