"""A size beyond what back ends copy aside."""

#: rows of 8 features, 4.5 MB in float32: beyond what back ends copy aside, so that a send waits for
#: its receive
LARGE = 34 * 4096
