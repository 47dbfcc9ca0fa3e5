# hint: no dict
def mesh_groups(shape, names, rank):
    groups, stride = [], math.prod(shape)
    for length in shape:
        stride //= length
        first = rank - rank // stride % length * stride
        groups.append([first + i * stride for i in range(length)])
    return groups
