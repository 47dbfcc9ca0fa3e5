"""`mirrored`: a copy of the variables on every device."""

from __future__ import annotations

from distlab.course.lab08_tensorflow_strategies.asked import with_tensorflow
from distlab.course.lab08_tensorflow_strategies.replicas import HINTS, VISIBLE, call, devices

exercise = with_tensorflow(
    points=1,
    make=devices,
    call=call,
    asks="mirrored returns a strategy that keeps a copy of every variable on each of the named "
    "devices.",
    visible=VISIBLE,
    hints=HINTS,
)
