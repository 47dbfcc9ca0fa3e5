# hint: upside down
def model_flops_utilization(parameters, tokens_per_second, peak_flops):
    return peak_flops / (6 * parameters * tokens_per_second)
