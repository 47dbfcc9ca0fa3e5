import sys
import warnings


class Blocking:
    def __init__(self, rank):
        self.rank = rank
        self.tensor = torch.zeros(1)

    def run(self):
        warnings.warn("this is only a warning")
        print("and this goes to stderr", file=sys.stderr)
        if self.rank == 0:
            self.tensor += 1
            dist.send(self.tensor, dst=1)
        else:
            buffer = torch.empty(1)
            dist.recv(buffer, src=0)
            self.tensor = buffer
        dist.barrier()
        return self.tensor


def run_blocking(rank, size):
    return Blocking(rank).run()
