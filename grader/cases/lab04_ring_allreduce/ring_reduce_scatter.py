"""Hidden cases of `ring_reduce_scatter`."""

from grader.cases.lab04_ring_allreduce.chunks import CHUNKS

HIDDEN = CHUNKS
