import itertools


def mesh_groups(shape, names, rank):
    places = list(itertools.product(*(range(length) for length in shape)))
    own = places[rank]
    return {
        name: [
            r
            for r, place in enumerate(places)
            if all(a == b for i, (a, b) in enumerate(zip(own, place)) if i != at)
        ]
        for at, name in enumerate(names)
    }
