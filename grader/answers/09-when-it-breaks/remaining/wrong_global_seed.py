# hint: global generator
def remaining(n, epoch, seed, done, rank, size):
    torch.manual_seed(seed + epoch)
    return torch.randperm(n).tolist()[done:][rank::size]
