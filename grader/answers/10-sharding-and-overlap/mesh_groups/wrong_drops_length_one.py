# hint: other names
def mesh_groups(shape, names, rank):
    groups, stride = {}, math.prod(shape)
    for length, name in zip(shape, names):
        stride //= length
        first = rank - rank // stride % length * stride
        if length > 1:
            groups[name] = [first + i * stride for i in range(length)]
    return groups
