# hint: single precision
def model_flops_utilization(parameters, tokens_per_second, peak_flops):
    return torch.tensor(6.0 * parameters * tokens_per_second / peak_flops).item()
