from fractions import Fraction


def linear_scaled_lr(base_lr, base_batch, batch):
    return float(Fraction(base_lr) * Fraction(batch, base_batch))
