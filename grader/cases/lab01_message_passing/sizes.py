"""A size beyond what back ends copy aside."""

#: 4.5 MB in float32: beyond what back ends copy aside, so that a send waits for its receive
LARGE = 272 * 4096
