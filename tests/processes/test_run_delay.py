"""Which processes belong to one whose waiting for a processor is asked for."""

import os
import subprocess
import sys
import threading

import pytest

from distlab.processes.run_delay import RunDelay, started


def test_what_another_thread_has_started_is_seen():
    made, done = [], threading.Event()

    def start():
        made.append(subprocess.Popen(["cat"], stdin=subprocess.PIPE))
        there.set()
        done.wait()

    there = threading.Event()
    thread = threading.Thread(target=start)
    thread.start()
    there.wait()
    try:
        assert str(made[0].pid) in started(os.getpid())
    finally:
        done.set()
        thread.join()
    assert str(made[0].pid) in started(os.getpid())  # though the thread has ended
    made[0].communicate()
    assert str(made[0].pid) not in started(os.getpid())


SPIN = "import os; os.sched_setaffinity(0, {CPU}); print(flush=True)\nwhile True: pass"
WAIT_FOR_A_THREAD = """
import hashlib, os, threading
os.sched_setaffinity(0, {CPU})
thread = threading.Thread(target=hashlib.pbkdf2_hmac, args=("sha512", b"", b"", 1_000_000))
thread.start()
print(flush=True)
thread.join()
print(os.times().user, flush=True)
input()
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")
def test_threads_for_which_the_first_one_waits_are_counted():
    """Where a neighbour spins on the same processor, a thread has half of it, and waits as long."""
    cpu = str(min(os.sched_getaffinity(0)))
    spin, wait = (
        subprocess.Popen(
            [sys.executable, "-c", code.replace("CPU", cpu)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        for code in (SPIN, WAIT_FOR_A_THREAD)
    )  # fmt: skip
    try:
        delay, told = RunDelay(), threading.Event()
        had: list[float] = []

        def hear():
            had.append(float(wait.stdout.readline()))
            told.set()

        spin.stdout.readline()
        wait.stdout.readline()
        before = waited = delay.seconds([wait.pid])
        threading.Thread(target=hear).start()
        while not told.wait(0.05):  # the thread tells nothing any more once it has ended
            waited = delay.seconds([wait.pid])
        assert waited - before > 0.3 * had[0] > 0
    finally:
        for one in (spin, wait):
            one.kill()
            one.communicate()
