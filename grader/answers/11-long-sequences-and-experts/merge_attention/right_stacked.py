def merge_attention(o1, lse1, o2, lse2):
    both = torch.stack([lse1, lse2])
    weights = torch.softmax(both, dim=0).nan_to_num(0.0)
    return torch.einsum("s...,s...d->...d", weights, torch.stack([o1, o2])), both.logsumexp(0)
