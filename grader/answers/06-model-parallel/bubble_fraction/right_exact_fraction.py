from fractions import Fraction


def bubble_fraction(size, microbatches):
    return Fraction(size - 1, microbatches + size - 1)
