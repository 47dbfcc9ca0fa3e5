"""Which processes belong to one whose waiting for a processor is asked for."""

import os
import subprocess
import threading

from distlab.processes.run_delay import started


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
