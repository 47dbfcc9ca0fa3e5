import numpy as np


def mesh_groups(shape, names, rank):
    mesh = np.arange(np.prod(shape)).reshape(shape)
    place = np.unravel_index(rank, shape)
    found = {}
    for at, name in enumerate(names):
        line = np.moveaxis(mesh, at, -1)[tuple(p for i, p in enumerate(place) if i != at)]
        found[name] = [int(r) for r in line]
    return found
