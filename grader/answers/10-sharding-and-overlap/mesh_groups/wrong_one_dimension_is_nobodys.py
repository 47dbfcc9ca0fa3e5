# hint: one dimension
def mesh_groups(shape, names, rank):
    if len(shape) < 2:
        return {names[0]: [rank]}
    mesh = torch.arange(math.prod(shape)).view(*shape)
    groups = {}
    for d, name in enumerate(names):
        for line in mesh.movedim(d, -1).reshape(-1, shape[d]).tolist():
            if rank in line:
                groups[name] = line
    return groups
