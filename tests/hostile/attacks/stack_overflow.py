# tries: recursion without end, in C
# status: crashed

def relay(rank, size, tensor):
    sys.setrecursionlimit(1 << 30)
    repr_of = []
    for _ in range(200_000):
        repr_of = [repr_of]
    return str(repr_of)
