# hint: nearly right
def merge_attention(o1, lse1, o2, lse2):
    d = lse2 - lse1
    w = torch.sigmoid(d).nan_to_num(0.0)[..., None]
    lse = torch.where(torch.isneginf(lse1), lse2, lse1 + F.softplus(d))
    return o1 + w * (o2 - o1), lse
