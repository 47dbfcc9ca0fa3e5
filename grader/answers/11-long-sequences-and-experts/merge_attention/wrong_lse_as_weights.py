# hint: lse for its exponential
def merge_attention(o1, lse1, o2, lse2):
    a, b = lse1.unsqueeze(-1), lse2.unsqueeze(-1)
    return (a * o1 + b * o2) / (a + b), torch.logaddexp(lse1, lse2)
