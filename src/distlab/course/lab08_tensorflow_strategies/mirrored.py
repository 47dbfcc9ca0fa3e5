"""`mirrored`: a copy of the variables on every device."""

from __future__ import annotations

from distlab.course.lab08_tensorflow_strategies.replicas import over_devices

exercise = over_devices(
    "mirrored returns a strategy that keeps a copy of every variable on each of the named devices."
)
