# hint: own norm
def clip_sharded(rank, size, pieces, max_norm):
    parameters = [nn.Parameter(torch.zeros_like(p)) for p in pieces]
    for parameter, p in zip(parameters, pieces):
        parameter.grad = p
    return float(nn.utils.clip_grad_norm_(parameters, max_norm))
