# tries: os._exit in the rank that unpickles it
# status: crashed

class Gone:
    def __reduce__(self):
        return os._exit, (0,)


gone = Gone()


def relay(rank, size, tensor):
    return gone
