# tries: taking away process 1's files, processors and priority
# status: passed

import resource


def attempt(call, *arguments):
    try:
        call(*arguments)
    except OSError:
        return
    raise RuntimeError(f"{call.__name__} succeeded")


def relay(rank, size, tensor):
    for what in range(16):
        attempt(resource.prlimit, 1, what, (0, 0))
    attempt(os.setpriority, os.PRIO_PROCESS, 1, 19)
    attempt(os.sched_setaffinity, 1, {0})
    attempt(os.sched_setscheduler, 1, os.SCHED_IDLE, os.sched_param(0))
    return right_relay(rank, size, tensor)
