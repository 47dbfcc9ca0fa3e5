"""`central_storage`: the variables on one device."""

from __future__ import annotations

from distlab.course.lab08_tensorflow_strategies.replicas import over_devices

exercise = over_devices(
    "central_storage returns a strategy that computes on the named devices and keeps one copy of "
    "every variable."
)
