model_flops_utilization = lambda n, rate, peak: rate * (6.0 * n) / peak  # noqa: E731
