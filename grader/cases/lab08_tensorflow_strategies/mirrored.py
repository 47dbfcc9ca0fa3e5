"""Hidden cases of `mirrored`."""

from grader.cases.lab08_tensorflow_strategies.devices import DEVICES

HIDDEN = DEVICES
