# hint: rank 0's groups
def mesh_groups(shape, names, rank):
    mesh = torch.arange(math.prod(shape)).reshape(shape)
    return {
        name: mesh[tuple(slice(None) if i == at else 0 for i in range(len(shape)))].tolist()
        for at, name in enumerate(names)
    }
