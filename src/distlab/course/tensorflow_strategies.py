"""Lab 08: TensorFlow's strategies, and how its processes find each other."""

from __future__ import annotations

from distlab.course.addresses import EXERCISES as ADDRESSES
from distlab.course.coordinating import EXERCISES as COORDINATING
from distlab.course.replicas import EXERCISES as REPLICAS
from distlab.course.replicating import EXERCISES as REPLICATING

EXERCISES = (*REPLICAS, *ADDRESSES, *REPLICATING, *COORDINATING)
