from fractions import Fraction


def parameter_server_time(n_bytes, size, latency, bandwidth):
    exact = 2 * (size - 1) * Fraction(n_bytes) / Fraction(bandwidth) + 2 * Fraction(latency)
    return float(exact)
