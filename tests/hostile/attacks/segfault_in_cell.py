# tries: a read from address 0 while the cell runs
# status: crashed

import ctypes

ctypes.string_at(0)
