def balance_loss(rank, size, probabilities, expert):
    E = probabilities.shape[1]
    vector = torch.zeros(2 * E + 1)
    for e in range(E):
        vector[e] = (expert == e).sum()
    vector[E : 2 * E] = probabilities.sum(0)
    vector[-1] = probabilities.shape[0]
    dist.all_reduce(vector)
    f, p = vector[:E] / vector[-1], vector[E : 2 * E] / vector[-1]
    return float(E * torch.dot(f, p))
