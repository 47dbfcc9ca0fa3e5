# hint: cut off at 1
def model_flops_utilization(parameters, tokens_per_second, peak_flops):
    return min(1, 6 * parameters * tokens_per_second / peak_flops)
