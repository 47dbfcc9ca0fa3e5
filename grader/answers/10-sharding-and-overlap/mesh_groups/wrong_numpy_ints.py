# hint: no plain ints
import numpy as np


def mesh_groups(shape, names, rank):
    mesh = np.arange(np.prod(shape)).reshape(shape)
    place = np.unravel_index(rank, shape)
    return {
        name: list(mesh[tuple(slice(None) if i == at else p for i, p in enumerate(place))])
        for at, name in enumerate(names)
    }
