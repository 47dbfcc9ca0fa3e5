# status: error
# hint: other arguments
def run_blocking(rank):
    return torch.zeros(1)
