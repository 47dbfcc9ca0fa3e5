"""Hidden cases of `ring_all_gather`."""

from grader.cases.lab04_ring_allreduce.chunks import CHUNKS

HIDDEN = CHUNKS
