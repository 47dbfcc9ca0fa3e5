def merge_attention(o1, lse1, o2, lse2):
    out = o1.new_empty(*o1.shape[:-1], o1.shape[-1] + 1)
    d = lse2.double() - lse1.double()
    w = torch.sigmoid(d)
    w = torch.where(torch.isneginf(lse2), 0, w)[..., None]
    out[..., :-1] = torch.lerp(o1.double(), o2.double(), w)
    out[..., -1] = torch.where(torch.isnan(d), -torch.inf, torch.maximum(lse1, lse2).double() + torch.log1p(torch.exp(-d.abs())))
    return out[..., :-1], out[..., -1]
