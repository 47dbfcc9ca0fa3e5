# hint: no plain ints
# says: are a tuple
def mesh_groups(shape, names, rank):
    mesh = torch.arange(math.prod(shape)).reshape(shape)
    place = (mesh == rank).nonzero()[0].tolist()
    return {
        name: tuple(mesh[(*place[:at], slice(None), *place[at + 1 :])].tolist())
        for at, name in enumerate(names)
    }
