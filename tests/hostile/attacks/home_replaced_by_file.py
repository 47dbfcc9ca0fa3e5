# tries: a file where its home was
# status: passed

import shutil

shutil.rmtree(os.environ["HOME"], ignore_errors=True)
with open(os.environ["HOME"], "w") as file:
    file.write("no folder")


def relay(rank, size, tensor):
    return right_relay(rank, size, tensor)
