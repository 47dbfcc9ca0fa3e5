# tries: a port and an abstract socket of the referee's machine
# status: passed

def relay(rank, size, tensor):
    for family, address in (
        (socket.AF_INET, ("127.0.0.1", {port})),
        (socket.AF_UNIX, "\0{abstract}"),
    ):
        with socket.socket(family) as found:
            try:
                found.connect(address)
            except OSError:
                continue
            raise RuntimeError("the referee's machine can be reached")
    return right_relay(rank, size, tensor)
