def mesh_groups(shape, names, rank):
    mesh = torch.arange(math.prod(shape)).reshape(shape)
    groups = {}
    for at, name in enumerate(names):
        lines = mesh.movedim(at, -1).reshape(-1, shape[at])
        groups[name] = next(line for line in lines.tolist() if rank in line)
    return groups
