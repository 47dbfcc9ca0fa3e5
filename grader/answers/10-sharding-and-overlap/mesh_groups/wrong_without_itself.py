# hint: itself left out
def mesh_groups(shape, names, rank):
    groups, stride = {}, math.prod(shape)
    for length, name in zip(shape, names):
        stride //= length
        first = rank - rank // stride % length * stride
        groups[name] = [r for i in range(length) if (r := first + i * stride) != rank]
    return groups
