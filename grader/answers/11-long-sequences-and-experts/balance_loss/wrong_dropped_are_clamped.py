# hint: dropped tokens counted
def balance_loss(rank, size, probabilities, expert):
    E = probabilities.shape[1]
    hot = F.one_hot(expert.clamp(min=0), E).to(probabilities.dtype)
    line = torch.cat([hot.sum(0), probabilities.sum(0), probabilities.new_tensor([len(expert)])])
    dist.all_reduce(line)
    f, P, n = line.split([E, E, 1])
    return (E * (f / n * P / n).sum()).item()
