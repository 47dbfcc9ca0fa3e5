# hint: no plain ints
def mesh_groups(shape, names, rank):
    mesh = torch.arange(math.prod(shape)).reshape(shape)
    place = (mesh == rank).nonzero()[0].tolist()
    return {
        name: mesh[tuple(slice(None) if i == at else p for i, p in enumerate(place))]
        for at, name in enumerate(names)
    }
