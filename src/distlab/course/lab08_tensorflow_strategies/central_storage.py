"""`central_storage`: the variables on one device."""

from __future__ import annotations

from distlab.course.lab08_tensorflow_strategies.asked import with_tensorflow
from distlab.course.lab08_tensorflow_strategies.replicas import HINTS, VISIBLE, call, devices

exercise = with_tensorflow(
    points=1,
    make=devices,
    call=call,
    asks="central_storage returns a strategy that computes on the named devices and keeps one copy "
    "of every variable.",
    visible=VISIBLE,
    hints=HINTS,
)
