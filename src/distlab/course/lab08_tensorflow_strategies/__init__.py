"""Lab 08: TensorFlow's strategies, and how its processes find each other."""

from __future__ import annotations

from distlab.course.lab08_tensorflow_strategies.addresses import EXERCISES as ADDRESSES
from distlab.course.lab08_tensorflow_strategies.coordinating import EXERCISES as COORDINATING
from distlab.course.lab08_tensorflow_strategies.replicas import EXERCISES as REPLICAS
from distlab.course.lab08_tensorflow_strategies.replicating import EXERCISES as REPLICATING

EXERCISES = (*REPLICAS, *ADDRESSES, *REPLICATING, *COORDINATING)
