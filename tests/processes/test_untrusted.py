"""What was checked is what is read, whatever its owner does meanwhile."""

import gc
import os
import socket

import exchanging
import pytest
from exchanging import outcomes, refused_or

from distlab.processes import untrusted


@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "socket", "link to nothing"])
def test_what_is_no_plain_file_is_refused_at_once(tmp_path, kind):
    path = tmp_path / "file"
    if kind == "pipe":
        os.mkfifo(path)  # whoever opens it waits for somebody who writes
    elif kind == "link":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    elif kind == "socket":
        socket.socket(socket.AF_UNIX).bind(str(path))
    else:
        path.symlink_to("nothing")
    with pytest.raises(untrusted.NotPlain, match="no plain file"):
        untrusted.plain_file(path)
    with pytest.raises(untrusted.NotPlain):
        untrusted.read(path, 10)


def test_a_device_is_no_plain_file():
    with pytest.raises(untrusted.NotPlain):
        untrusted.plain_file("/dev/zero")


def test_of_a_file_that_is_too_large_nothing_is_returned(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert untrusted.read(path, 5) == b"12345"
    with pytest.raises(untrusted.TooLarge):
        untrusted.read(path, 4)


@pytest.mark.parametrize("other", ["link", "pipe"])
def test_a_file_that_is_exchanged_meanwhile_is_read_itself_or_not_at_all(tmp_path, other):
    secret, own, lure = tmp_path / "secret", tmp_path / "own", tmp_path / "lure"
    secret.write_text("secret")
    own.write_text("own")
    if other == "link":
        lure.symlink_to(secret)
    else:
        os.mkfifo(lure)

    def read():
        return refused_or(lambda: untrusted.read(own, 100))

    assert set(exchanging.at_each_moment(read, own, lure)) == {b"own"}
    exchanging.exchange(own, lure)
    assert set(exchanging.at_each_moment(read, own, lure)) == {None}
    exchanging.exchange(own, lure)
    with exchanging.exchanging(own, lure):
        assert outcomes(read) == {b"own", None}


def test_a_folder_that_is_exchanged_for_a_link_is_the_one_that_was_opened_or_none(tmp_path):
    secrets, own, lure = tmp_path / "secrets", tmp_path / "student", tmp_path / "lure"
    for folder in (secrets, own):
        (folder / "lab").mkdir(parents=True)
        (folder / "lab" / "file").write_text(folder.name)
    lure.symlink_to(secrets)

    def from_folder():
        with untrusted.Folder.at(tmp_path, "student", "lab") as folder:
            return untrusted.read("file", 100, folder.handle)

    def read():
        return refused_or(from_folder)

    assert set(exchanging.at_each_moment(read, own, lure)) <= {b"student", None}
    with exchanging.exchanging(own, lure):
        assert outcomes(read) == {b"student", None}


def test_a_folder_that_may_be_passed_and_not_listed_is_passed(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_text("1")
    (tmp_path / "a").chmod(0o311)
    with untrusted.Folder.at(tmp_path, "a", "b") as folder:
        assert folder.names() == ["file"] and folder.holds("file") and not folder.holds("other")
        assert untrusted.read("file", 1, folder.handle) == b"1"


def test_no_descriptor_is_left_open(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").write_text("12")
    os.mkfifo(tmp_path / "pipe")
    gc.collect()  # or what an earlier test left is closed meanwhile
    before = os.listdir("/proc/self/fd")
    for read in (
        lambda: untrusted.read(tmp_path / "a" / "file", 1),
        lambda: untrusted.plain_file(tmp_path / "pipe"),
        lambda: untrusted.plain_file(tmp_path / "a"),
        lambda: untrusted.Folder.at(tmp_path, "a", "file"),
        lambda: untrusted.Folder.at(tmp_path, "a", "nothing"),
    ):
        with pytest.raises(OSError):
            read()
    assert set(os.listdir("/proc/self/fd")) <= set(before)
