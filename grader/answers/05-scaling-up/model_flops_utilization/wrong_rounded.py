# hint: rounded
def model_flops_utilization(parameters, tokens_per_second, peak_flops):
    return round(6 * parameters * tokens_per_second / peak_flops, 3)
