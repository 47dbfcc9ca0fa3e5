"""Futures whose callbacks and waits are on record: a callback may communicate, on any thread."""

from __future__ import annotations

import contextlib
from typing import Any

import torch

from distlab.rank.recorder import Recorder
from distlab.records import events


class RecordedFuture(torch.futures.Future[Any]):
    """The future of an operation as the student's code gets it. Made by `follow`."""

    def __init__(self, recorder: Recorder, at: int) -> None:
        super().__init__()
        self._recorder, self._at = recorder, at

    def then(self, callback):
        made = super().then(self._recorder.callback(self._at, callback))
        return follow(made, self._recorder, self._at)

    def add_done_callback(self, callback):
        super().add_done_callback(self._recorder.callback(self._at, callback))

    def wait(self):
        self._recorder.wait_begin(self._at, blocking=False)
        try:
            result = super().wait()
        except BaseException:
            self._recorder.finish(self._at, events.FAILED, waited=True)
            raise
        self._recorder.finish(self._at, waited=True)
        return result


def follow(future, recorder: Recorder, at: int) -> RecordedFuture:
    """A future that ends with this one, its callbacks counted as agents of the rank."""
    own = RecordedFuture(recorder, at)

    def ended(done):
        try:
            result = done.value()
        except Exception as error:
            own.set_exception(error)
        else:
            own.set_result(result)

    if isinstance(future, RecordedFuture):
        torch.futures.Future.add_done_callback(future, ended)
    else:
        future.add_done_callback(ended)
    return own


_collect_all = torch._C._collect_all


def _collected(futures):
    """torch's `collect_all`, whose future has callbacks as well."""
    known = [one for one in futures if isinstance(one, RecordedFuture)]
    made = _collect_all(futures)
    return follow(made, known[0]._recorder, known[0]._at) if known else made


@contextlib.contextmanager
def collected():
    """Follow the futures of several operations while the context lasts."""
    torch._C._collect_all = _collected
    try:
        yield
    finally:
        torch._C._collect_all = _collect_all
