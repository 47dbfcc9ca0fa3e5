def merge_attention(o1, lse1, o2, lse2):
    empty = torch.isneginf(lse1) & torch.isneginf(lse2)
    difference = torch.where(empty, torch.zeros_like(lse1), lse1 - lse2)
    share = torch.sigmoid(difference).unsqueeze(-1)
    lse = torch.maximum(lse1, lse2) + torch.log1p(torch.exp(-difference.abs()))
    return share * o1 + (1 - share) * o2, lse
