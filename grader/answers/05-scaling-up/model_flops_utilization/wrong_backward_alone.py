# hint: backward alone
def model_flops_utilization(parameters, tokens_per_second, peak_flops):
    return 4 * parameters * tokens_per_second / peak_flops
