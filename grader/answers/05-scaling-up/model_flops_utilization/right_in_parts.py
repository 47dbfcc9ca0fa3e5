def model_flops_utilization(parameters, tokens_per_second, peak_flops):
    forward = 2 * parameters
    backward = 2 * forward
    return (forward + backward) * tokens_per_second / peak_flops
