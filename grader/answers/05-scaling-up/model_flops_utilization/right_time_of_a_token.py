def model_flops_utilization(parameters, tokens_per_second, peak_flops):
    at_the_peak, measured = 6 * parameters / peak_flops, 1 / tokens_per_second
    return at_the_peak / measured
