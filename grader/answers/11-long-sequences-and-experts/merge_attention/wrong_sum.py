# hint: added up
def merge_attention(o1, lse1, o2, lse2):
    return o1 + o2, torch.logaddexp(lse1, lse2)
