# tries: a record of ranks that are not there, at times of infinity, in groups of thousands
# status: wrong

from distlab.records.events import HEADER, HEADER_BYTES, PACK


def relay(rank, size, tensor):
    result = right_relay(rank, size, tensor) * 0
    rows = [
        PACK.pack(state, op, flags, 200, group, peer, tag, -tag, 99, 6, 9, 1 << 60, *[1 << 30] * 6,
                  begin, -end, 1e300, -end, end, 0, 0, b"<script>", b"<script>alert(1)</script>",
                  b"\xff\xfe", b"0-32767", end, 65535, 65535, 65535, 65535, end)
        for state in (1, 2, 3, 77) for op in range(13) for flags in (0, 31) for tag in (0, -5)
        for group, peer in ((0, 1), (7, -1), (-3, 32767))
        for begin, end in ((float("inf"), float("nan")), (-1.0, 0.0))
    ] * 8  # as many as the judge looks at
    who = rank + 3 * (rank == 2)
    header = HEADER.pack(who, size, len(rows), 2, 1e300, float("nan"), -1, 0.0, 1e300)
    with open(os.path.join(os.environ["DISTLAB_RUN"], f"{rank}.rec"), "r+b") as file:
        file.write(header.ljust(HEADER_BYTES, b"\0") + b"".join(rows))
    return result
