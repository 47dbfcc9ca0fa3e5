# hint: other ranks
def mesh_groups(shape, names, rank):
    groups, stride = {}, math.prod(shape)
    for length, name in zip(shape, names):
        stride //= length
        groups[name] = [rank + i * stride for i in range(length)]
    return groups
