# hint: no factor
def model_flops_utilization(parameters, tokens_per_second, peak_flops):
    return parameters * tokens_per_second / peak_flops
