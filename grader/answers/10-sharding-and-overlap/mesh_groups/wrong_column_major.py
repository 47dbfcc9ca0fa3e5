# hint: column-major
def mesh_groups(shape, names, rank):
    groups, stride = {}, 1
    for length, name in zip(shape, names):
        place = rank // stride % length
        first = rank - place * stride
        groups[name] = [first + i * stride for i in range(length)]
        stride *= length
    return groups
