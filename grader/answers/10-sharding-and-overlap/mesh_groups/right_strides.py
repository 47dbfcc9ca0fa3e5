def mesh_groups(shape, names, rank):
    groups, stride = {}, math.prod(shape)
    for length, name in zip(shape, names):
        stride //= length
        place = rank // stride % length
        first = rank - place * stride
        groups[name] = [first + i * stride for i in range(length)]
    return groups
