"""The network of ranks and the ring that its packets are kept in, without torch."""

import contextlib
import os
import signal
import socket
import struct
import traceback

import namespaces

PORT = 5000


def in_rank(wire, rank, function):
    """The process in which a rank calls a function."""
    if pid := os.fork():
        return pid
    status = 1
    try:
        wire.enter(rank)
        function()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def ended(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def two_ranks():
    from distlab.network.measure import Wire

    made = Wire(2)
    made.begin()
    return made


def receiver(wire, kind=socket.SOCK_STREAM):
    """Rank 1's socket, made here, so that it is there before anything is sent."""
    ours, theirs = socket.socketpair()

    def serve():
        with socket.socket(socket.AF_INET, kind) as listening:
            listening.bind(("10.77.0.2", PORT))
            if kind == socket.SOCK_STREAM:
                listening.listen()
            theirs.send(b"!")
            talking = listening.accept()[0] if kind == socket.SOCK_STREAM else listening
            while kind == socket.SOCK_STREAM and talking.recv(1 << 20):
                pass
            if kind == socket.SOCK_DGRAM:
                talking.recv(1 << 16)

    pid = in_rank(wire, 1, serve)
    ours.recv(1)
    return pid


def sender(*data, kind=socket.SOCK_STREAM):
    def send():
        with socket.socket(socket.AF_INET, kind) as talking:
            talking.connect(("10.77.0.2", PORT))
            for one in data:
                talking.sendall(one)

    return send


def exchanged(*data, kind=socket.SOCK_STREAM):
    """What is seen of what rank 0 sends to rank 1."""
    wire = two_ranks()
    receives = receiver(wire, kind)
    assert ended(in_rank(wire, 0, sender(*data, kind=kind))) == 0
    assert ended(receives) == 0
    return wire.seen()


def bytes_are_counted():
    seen = exchanged(b"hello", b"x" * 200_000)
    assert seen.foreign == {(0, 1): 200_005} and not seen.lost and not seen.messages
    assert seen.sent[0] > 200_005 and 0 < seen.sent[1] < 20_000


def datagrams_are_counted():
    seen = exchanged(b"x" * 1000, kind=socket.SOCK_DGRAM)
    assert seen.foreign == {(0, 1): 1028}


def messages_are_told_apart():
    greeting, empty = struct.pack("<Q", 0), struct.pack("<6Q", 48, 1, 5, 0, 0, 0)
    large = struct.pack("<6Q", 1_000_048, 1, 4 << 56, 0, 1_000_000, 0)
    seen = exchanged(greeting, empty, large[:20], large[20:] + bytes(1_000_000))
    assert seen.messages == {(0, 1, 0): 1} and not seen.foreign
    assert seen.volumes == {(0, 1, "all_reduce"): 1_000_000}


def a_run_begins_with_nothing():
    from distlab.network.measure import Wire

    wire = Wire(1)
    wire.grow(2)
    wire.begin(20 << 20)  # another ring
    receives = receiver(wire)
    assert ended(in_rank(wire, 0, sender(b"first"))) == 0 == ended(receives)
    wire.begin()
    receives = receiver(wire)
    assert ended(in_rank(wire, 0, sender(b"then"))) == 0 == ended(receives)
    assert wire.seen().foreign == {(0, 1): 4}


def what_does_not_fit_is_counted_as_lost():
    seen = exchanged(*[bytes(1 << 20)] * 30)  # nobody drains the ring meanwhile
    assert seen.lost and seen.sent[0] > 30 << 20


def nobody_speaks_for_another():
    wire = two_ranks()
    wire.grow(3)
    wire.begin()

    def forge():
        # rank 1 to rank 2, says rank 0, which has kept its capabilities for this test
        with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
            packet = struct.pack(
                "!BBHHHBBH4s4s", 0x45, 0, 28, 1, 0, 64, 17, 0,
                socket.inet_aton("10.77.0.2"), socket.inet_aton("10.77.0.3"),
            )  # fmt: skip
            raw.sendto(packet + bytes(8), ("10.77.0.3", 0))

    assert ended(in_rank(wire, 0, forge)) == 0
    seen = wire.seen()
    assert seen.sent[0] >= 28 and not seen.foreign and not seen.messages


def ranks_have_no_way_to_the_ring():
    wire = two_ranks()
    ring = wire._ring

    def look():
        names = {name for _, name in socket.if_nameindex()}
        assert names == {"lo", "wire"}, names
        assert ring._socket.fileno() == ring._echo.fileno() == -1
        links = set()
        for descriptor in os.listdir("/proc/self/fd"):
            with contextlib.suppress(FileNotFoundError):  # that of the listing itself
                links.add(os.readlink(f"/proc/self/fd/{descriptor}"))
        assert not any(link.startswith(("net:", "packet:", "socket:")) for link in links), links

    def write():
        ring._memory[:8] = bytes(8)

    assert ended(in_rank(wire, 0, look)) == 0
    assert ended(in_rank(wire, 0, write)) == -signal.SIGSEGV


def loopbacks_are_apart():
    wire = two_ranks()
    listening = socket.create_server(("127.0.0.1", 0))
    where = listening.getsockname()

    def connect():
        with socket.socket() as talking, contextlib.suppress(ConnectionRefusedError):
            talking.connect(where)
            raise AssertionError("that is the loopback of process 1")

    assert ended(in_rank(wire, 0, connect)) == 0


def test_bytes_between_ranks_are_counted():
    namespaces.run(bytes_are_counted)


def test_datagrams_between_ranks_are_counted():
    namespaces.run(datagrams_are_counted)


def test_messages_are_told_apart():
    namespaces.run(messages_are_told_apart)


def test_a_run_begins_with_nothing():
    namespaces.run(a_run_begins_with_nothing)


def test_what_does_not_fit_into_the_ring_is_counted_as_lost():
    namespaces.run(what_does_not_fit_is_counted_as_lost)


def test_no_rank_speaks_for_another():
    namespaces.run(nobody_speaks_for_another)


def test_ranks_have_no_way_to_the_ring():
    namespaces.run(ranks_have_no_way_to_the_ring)


def test_each_rank_has_a_loopback_of_its_own():
    namespaces.run(loopbacks_are_apart)
