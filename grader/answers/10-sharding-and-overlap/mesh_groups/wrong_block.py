# hint: other ranks
def mesh_groups(shape, names, rank):
    return {
        name: list(range(rank // length * length, rank // length * length + length))
        for length, name in zip(shape, names)
    }
