# says: no tensor and no text
def model_flops_utilization(parameters, tokens_per_second, peak_flops):
    return f"{6 * parameters * tokens_per_second / peak_flops:.1%}"
