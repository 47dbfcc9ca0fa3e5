"""Lab 07: its exercises in the order of the notebook.

The ranks run the real Horovod, which a case starts on them and the next one ends.
"""

from __future__ import annotations

from distlab.course.lab07_horovod.starting import make_loader, metric_average, start
from distlab.course.lab07_horovod.tape import tape_step
from distlab.course.lab07_horovod.training import make_optimizer, train_epoch

EXERCISES = [start, make_loader, make_optimizer, metric_average, train_epoch, tape_step]
