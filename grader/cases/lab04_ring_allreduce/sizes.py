"""A size beyond what back ends copy aside, and numbers beyond what floats hold."""

#: 4.5 MB in float32: beyond what back ends copy aside, so that a send waits for its receive
LARGE = 272 * 4096

#: what whole numbers are multiplied by: the 53 bits of a float64 do not hold the result
WIDE = 2**55 + 1
