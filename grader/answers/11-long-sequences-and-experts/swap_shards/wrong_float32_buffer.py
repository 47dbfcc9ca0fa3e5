# status: error
# says: Two dtypes meet in this line
def swap_shards(rank, size, x, to):
    pieces = torch.stack(x.chunk(size, dim=1 if to == "heads" else 0))
    arrived = torch.empty(pieces.shape)
    dist.all_to_all_single(arrived, pieces)
    return torch.cat(list(arrived), dim=0 if to == "heads" else 1)
