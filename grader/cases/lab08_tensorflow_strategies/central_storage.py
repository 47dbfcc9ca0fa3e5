"""Hidden cases of `central_storage`."""

from grader.cases.lab08_tensorflow_strategies.devices import DEVICES

HIDDEN = DEVICES
