"""A port that is held: nobody else gets it, and who was told it can listen there."""

import datetime
import socket
import struct

import pytest
import torch.distributed as dist

from distlab.processes.ports import Held


def alone(port):
    """An option by which the kernel has this one port to give (Linux 6.3)."""
    return socket.IPPROTO_IP, 51, struct.pack("I", port << 16 | port)


@pytest.mark.parametrize("libuv", [True, False])
def test_torchs_store_listens_where_a_port_is_held(libuv):
    with Held() as held:
        soon = datetime.timedelta(seconds=20)
        store = dist.TCPStore("127.0.0.1", held.port, 1, True, soon, use_libuv=libuv)
        other = dist.TCPStore("127.0.0.1", held.port, None, False, soon, use_libuv=libuv)
        store.set("a", "b")
        assert other.get("a") == b"b"


def test_nobody_is_given_a_held_port():
    """Neither to listen at nor to connect from, where it is the only one that may be given."""
    with Held() as held:
        with socket.socket() as named, pytest.raises(OSError, match="in use"):
            named.bind(("127.0.0.1", held.port))
        with socket.socket() as listening, socket.socket() as connected:
            listening.bind(("127.0.0.1", 0))
            listening.listen(1)
            connected.setsockopt(*alone(held.port))
            with pytest.raises(OSError, match="[Aa]ssign|in use"):
                connected.connect(listening.getsockname())
        with socket.socket() as any_one:
            any_one.setsockopt(*alone(held.port))
            with pytest.raises(OSError, match="in use"):
                any_one.bind(("127.0.0.1", 0))


def test_it_is_free_again_afterwards():
    with Held() as held:
        pass
    with socket.socket() as named:
        named.bind(("127.0.0.1", held.port))
