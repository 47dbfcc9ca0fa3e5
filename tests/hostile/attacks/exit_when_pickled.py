# tries: os._exit while the function is pickled
# status: crashed

class Gone:
    def __reduce__(self):
        os._exit(0)


gone = Gone()


def relay(rank, size, tensor):
    return gone
