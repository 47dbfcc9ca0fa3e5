# hint: fewer tensors
def unshard(rank, size, piece, shapes):
    everybody = [torch.empty_like(piece) for _ in range(size)]
    dist.all_gather(everybody, piece)
    line, tensors = torch.cat(everybody), []
    for shape in shapes:
        count = math.prod(shape)
        tensors.append(line[:count].view(shape))
        line = line[count:]
        return tensors
