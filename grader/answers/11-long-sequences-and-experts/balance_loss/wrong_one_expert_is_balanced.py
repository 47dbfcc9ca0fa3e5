# hint: single expert
def balance_loss(rank, size, probabilities, expert):
    experts = probabilities.shape[1]
    if experts == 1:
        return 1.0  # also where tokens have no expert
    kept = expert[expert >= 0]
    numbers = torch.cat(
        [
            torch.bincount(kept, minlength=experts).double(),
            probabilities.sum(0).double(),
            torch.tensor([float(len(expert))], dtype=torch.float64),
        ]
    )
    dist.all_reduce(numbers)
    share, mean = numbers[:-1].view(2, experts) / numbers[-1]
    return (experts * share @ mean).item()
