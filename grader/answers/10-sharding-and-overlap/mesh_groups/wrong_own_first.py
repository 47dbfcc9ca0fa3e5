# hint: not sorted
def mesh_groups(shape, names, rank):
    groups, stride = {}, math.prod(shape)
    for length, name in zip(shape, names):
        stride //= length
        place = rank // stride % length
        groups[name] = [rank + ((place + i) % length - place) * stride for i in range(length)]
    return groups
