# hint: recomputation counted
def model_flops_utilization(parameters, tokens_per_second, peak_flops):
    return 8 * parameters * tokens_per_second / peak_flops
