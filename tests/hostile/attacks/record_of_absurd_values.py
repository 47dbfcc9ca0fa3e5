# tries: a record of ranks that are not there, at times of infinity, in groups of nobody
# status: wrong

import struct


def relay(rank, size, tensor):
    result = right_relay(rank, size, tensor) * 0
    row = struct.Struct("<BBBBhhiiBBHq6idddddII24s40s32s48s12x")
    rows = [
        row.pack(state, op, flags, 200, group, peer, -5, -7, 99, 6, 9, 1 << 60, *[1 << 30] * 6,
                 begin, float("nan"), 1e300, float("-inf"), float("nan"), 0, 0,
                 b"<script>", b"<script>alert(1)</script>", b"\xff\xfe", b"0-32767")
        for state in (1, 2, 3, 77) for op in range(13) for flags in (0, 31)
        for group, peer in ((0, 5), (7, -1), (-3, 32767)) for begin in (float("inf"), -1.0)
    ]
    with open(os.path.join(os.environ["DISTLAB_RUN"], f"{rank}.rec"), "r+b") as file:
        header = struct.pack("<iiiidd", rank + 3, 30_000, len(rows), 2, 1e300, float("nan"))
        file.write(header.ljust(4096, b"\0") + b"".join(rows))
    return result
