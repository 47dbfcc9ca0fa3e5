# hint: no plain number
# says: fractions.Fraction
from fractions import Fraction


def effective_batch(per_rank, size, accumulation):
    return Fraction(per_rank * size * accumulation)
