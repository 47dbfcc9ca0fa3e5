# status: error
# hint: elements of a shape
def unshard(rank, size, piece, shapes):
    pieces = [torch.empty_like(piece) for _ in range(size)]
    dist.all_gather(pieces, piece)
    line, begin, found = torch.cat(pieces), 0, []
    for shape in shapes:
        length = math.prod(shape)
        found.append(line[begin:length].view(shape))
        begin += length
    return found
