# hint: row without keys
def merge_attention(o1, lse1, o2, lse2):
    lse = torch.logaddexp(lse1, lse2).nan_to_num(0.0, neginf=0.0)
    w1, w2 = torch.exp(lse1 - lse).unsqueeze(-1), torch.exp(lse2 - lse).unsqueeze(-1)
    return w1 * o1 + w2 * o2, lse
