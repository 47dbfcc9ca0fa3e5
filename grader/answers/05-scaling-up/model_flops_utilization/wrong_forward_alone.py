# hint: forward alone
def model_flops_utilization(parameters, tokens_per_second, peak_flops):
    return 2 * parameters * tokens_per_second / peak_flops
