"""What is asked of the kernel about devices."""

import namespaces
import pytest

from distlab.network import rtnetlink


def many():
    netlink = rtnetlink.Netlink()
    netlink.do([rtnetlink.up(rtnetlink.LOOPBACK)] * 2000)
    netlink.do([])
    assert netlink.received(rtnetlink.LOOPBACK) == 0


def one_fails():
    netlink = rtnetlink.Netlink()
    good, bad = rtnetlink.up(rtnetlink.LOOPBACK), rtnetlink.up(999)
    for messages in ([bad], [good] * 70 + [bad], [bad] + [good] * 70):
        with pytest.raises(OSError, match="No such device"):
            netlink.do(messages)
        netlink.do([good])  # its answer is not taken for that of another


def test_however_many_requests_are_made_each_is_answered():
    namespaces.run(many)


def test_a_request_that_fails_is_told():
    namespaces.run(one_fails)
