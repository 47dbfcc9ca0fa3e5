from fractions import Fraction

bubble_fraction = lambda size, microbatches: float(Fraction(size - 1, microbatches + size - 1))
