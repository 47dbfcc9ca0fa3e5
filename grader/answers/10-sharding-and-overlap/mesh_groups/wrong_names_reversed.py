# hint: dimensions swapped
def mesh_groups(shape, names, rank):
    groups, stride = {}, math.prod(shape)
    for length, name in zip(shape, reversed(names)):
        stride //= length
        first = rank - rank // stride % length * stride
        groups[name] = [first + i * stride for i in range(length)]
    return groups
