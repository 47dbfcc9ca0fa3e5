"""Hidden cases of `parameter_server_time`."""

from distlab.exercises.exercise import Case
from grader.cases import Varied, near
from grader.cases.lab04_ring_allreduce.links import TIMES, VISIBLE_TIMES, link

HIDDEN = (*TIMES, Varied(Case(1, 106, link(4_000, 2, 1e-6, 1e9)), near("size")))

VISIBLE = VISIBLE_TIMES
