# tries: removing its home, and closing it to everybody
# status: passed

import shutil

shutil.rmtree(os.environ["HOME"], ignore_errors=True)
os.makedirs(os.environ["HOME"], 0, exist_ok=True)
os.chmod(os.environ["HOME"], 0)


def relay(rank, size, tensor):
    return right_relay(rank, size, tensor)
