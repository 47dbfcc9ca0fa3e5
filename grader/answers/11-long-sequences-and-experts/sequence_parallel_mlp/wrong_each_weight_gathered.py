# hint: weights gathered
def whole(part, size):
    parts = [torch.empty_like(part) for _ in range(size)]
    dist.all_gather(parts, part)
    return parts


def sequence_parallel_mlp(rank, size, x, w1, w2):
    hidden = F.gelu(x @ torch.cat(whole(w1, size)).T)
    return hidden @ torch.cat(whole(w2, size), dim=1).T
