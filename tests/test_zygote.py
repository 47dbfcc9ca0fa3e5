"""The process that others are forked from lives as long as whoever started it, and no longer."""

import concurrent.futures
import subprocess

import pytest

from distlab.zygote import Zygote


def test_it_outlives_the_thread_that_asked_for_it():
    def started():
        zygote = Zygote(())
        zygote.status(0)  # it answers: it is up
        return zygote

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        zygote = pool.submit(started).result()
    with zygote:  # the thread has ended
        with pytest.raises(subprocess.TimeoutExpired):
            zygote.process.wait(1.0)
        assert zygote.status(0) is None
