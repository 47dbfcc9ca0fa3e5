# hint: no pair
def merge_attention(o1, lse1, o2, lse2):
    share = torch.sigmoid(lse1 - lse2).unsqueeze(-1)
    return share * o1 + (1 - share) * o2
