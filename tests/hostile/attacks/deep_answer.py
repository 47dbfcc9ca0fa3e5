# tries: a dict nested 10 000 deep
# status: wrong

def relay(rank, size, tensor):
    right_relay(rank, size, tensor)
    deep = {}
    for _ in range(10_000):
        deep = {"deeper": deep}
    return deep
