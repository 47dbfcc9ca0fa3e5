# tries: a function that takes for ever to be handed out
# status: timeout

class Slow:
    def __reduce__(self):
        time.sleep(600)


slow = Slow()


def relay(rank, size, tensor):
    return slow
