"""Requests whose wait is written down: what a `RecordedGroup` returns for each operation."""

from __future__ import annotations

import datetime
import os
import sys
from threading import Event

import torch
import torch.distributed as dist

from distlab.rank import buffers
from distlab.rank.futures import follow
from distlab.rank.races import Races
from distlab.rank.recorder import Recorder
from distlab.rank.uncompiled import uncompiled
from distlab.records import events

_TORCH = os.path.dirname(torch.__file__) + os.sep
NO_TIMEOUT = datetime.timedelta(0)  # what torch takes for "no timeout" in a wait


@uncompiled
class RecordedWork(dist.Work):
    """A request whose wait is logged. `after` runs once, when the operation has completed.

    `lasts`: seconds that a wait without a timeout lasts at most, where they count from the wait on.
    `single`: a second wait would wait for another message, which never comes.
    `results`: tensors that the operation leaves its results in.
    """

    def __init__(
        self, work, recorder: Recorder, at: int, after=None, lasts=None, single=False, results=()
    ) -> None:
        super().__init__()
        self._work, self._recorder, self._at, self._after = work, recorder, at, after
        self._lasts, self._single, self._ended = lasts, single, False
        self._results = results
        self._polls = 0
        self._first: int | None = None  # call of `is_completed` that answers True
        self._races: Races | None = None
        self._kept: list[tuple[torch.Tensor, int | None]] = []
        #: the future that torch itself has got, and what is set once its end is on record
        self._told: tuple[torch.futures.Future, Event] | None = None

    def wait(self, timeout: datetime.timedelta = NO_TIMEOUT):
        recorder, at = self._recorder, self._at
        if self._ended and self._first:  # `is_completed` waited for it
            recorder.finish(at, waited=True)
            return True
        if self._ended and self._single:
            at = recorder.again(at)
        elif self._ended:  # the wait that counts is the first
            return self._work.wait(timeout)
        lasts = timeout.total_seconds() if timeout else self._lasts
        torchs_own = _is_torchs()
        result = waited(recorder, at, torchs_own, lasts, self._work.wait, timeout)
        self._complete()
        self._ended = True
        recorder.finish(at, waited=True)
        return result

    def watch(self, read, written, kept=()) -> None:
        """Look at who touches what the operation reads and writes until it has completed.

        `kept`: tensors of `written` that must stay unchanged until then, because the operation
        fills buffers of its own.
        """
        recorder, at = self._recorder, self._at
        self._races = recorder.races()
        self._races.begin(id(self), read, written, lambda how: recorder.race(at, how))
        self._kept = [(tensor.detach(), buffers.digest(tensor)) for tensor in (*read, *kept)]

    def _unwatch(self) -> None:
        if self._races is not None:
            self._races.end(id(self))
        kept, self._kept = self._kept, []
        if any(held is not None and buffers.digest(tensor) != held for tensor, held in kept):
            self._recorder.flag(self._at, events.CHANGED)

    def _complete(self) -> None:
        self._unwatch()
        self._recorder.open.pop(id(self), None)
        after, self._after = self._after, None
        if after is not None:
            after(self._work)
        results, self._results = self._results, ()
        if results:
            self._recorder.results(self._at, results)

    def is_completed(self):
        if self._ended:  # nothing is left to chance
            return True
        done = self._poll()
        self._recorder.polled(self._at, done)
        if not done:
            return False
        self._complete()
        self._recorder.finish(self._at)
        return True

    def _poll(self) -> bool:
        """Has it completed? Where a schedule says at which call, it has from that one on."""
        if not self._polls:
            self._first = self._recorder.plan.poll()
        self._polls += 1
        if self._first is None or self._ended:
            return self._ended or self._work.is_completed()
        if self._polls != self._first:
            return 0 < self._first < self._polls
        self._recorder.flag(self._at, events.MADE_TRUE)
        waited(self._recorder, self._at, False, None, self._work.wait)
        self._ended = True
        return True

    def is_success(self):
        return self._work.is_success()

    def exception(self):
        return self._work.exception()

    def result(self):
        return self._work.result()

    def synchronize(self):
        return self._work.synchronize()

    def get_future(self):
        future = self._work.get_future()
        recorder, at, key = self._recorder, self._at, id(self)
        students = not _is_torchs()
        # a wait for the future can't be seen; `done` may run only after it
        recorder.flag(at, events.WAITED | events.FUTURE)
        if self._after is not None:  # the result must be in its place before anybody is told

            def completed(ended):
                self._complete()
                recorder.finish(at)
                return ended.value()

            future = future.then(completed)

        noted = Event()

        def done(_):
            try:
                self._unwatch()
                recorder.finish(at)
            finally:
                noted.set()
                recorder.open.pop(key, None)

        future.add_done_callback(done)
        if not students and self._told is None:
            self._told = future, noted
        if students and torch.cuda.is_available():  # a future made here would know no streams
            recorder.callback(at, done)
        return future if not students or torch.cuda.is_available() else follow(future, recorder, at)

    def settle(self) -> None:
        """Wait until the operation's end is on record, if torch may have been told of it already: a
        future wakes those who wait for it before it calls `done`, on a thread of gloo's.
        """
        if self._told is not None and self._told[0].done():
            self._told[1].wait()

    def source_rank(self):
        return self._work._source_rank()

    _source_rank = source_rank


def _is_torchs() -> bool:
    """Is who calls a method of ours torch? C++ may, on a thread without any Python: autograd has
    one for each GPU, on which DDP reduces.
    """
    caller = sys._getframe(1).f_back
    return caller is None or caller.f_code.co_filename.startswith(_TORCH)


class Sent:
    """A send that has ended, because what it carries lies in a buffer."""

    def wait(self, timeout=NO_TIMEOUT):
        return True

    def is_completed(self):
        return True

    is_success = is_completed

    def exception(self):
        return None

    def result(self):
        return []

    def synchronize(self):
        pass

    def get_future(self):
        future: torch.futures.Future[list[torch.Tensor]] = torch.futures.Future()
        future.set_result([])
        return future


class From:
    """A receive from one rank, which stands for one from anybody."""

    def __init__(self, work, source: int) -> None:
        self._work, self._source = work, source

    def _source_rank(self):
        return self._source

    def __getattr__(self, name: str):
        return getattr(self._work, name)


def waited(recorder: Recorder, at: int, blocking: bool, lasts: float | None, wait, *args):
    """What `wait(*args)` returns; that this rank waits meanwhile, or has failed to, is noted."""
    recorder.wait_begin(at, blocking, lasts)
    try:
        return wait(*args)
    except BaseException:
        recorder.finish(at, events.FAILED, waited=True)
        raise
