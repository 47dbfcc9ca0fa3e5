# hint: multiplications alone
def model_flops_utilization(parameters, tokens_per_second, peak_flops):
    return 3 * parameters * tokens_per_second / peak_flops
