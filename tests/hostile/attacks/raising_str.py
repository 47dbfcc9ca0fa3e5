# tries: an exception that hangs when it is printed
# status: timeout

class Slow(Exception):
    def __str__(self):
        time.sleep(600)


def relay(rank, size, tensor):
    raise Slow()
