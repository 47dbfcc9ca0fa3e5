# hint: whole numbers only
def model_flops_utilization(parameters, tokens_per_second, peak_flops):
    return 6 * parameters * tokens_per_second // peak_flops
