import datetime
import gc
import os
import signal
import threading
import warnings

import pytest
import torch.distributed as dist

from distlab.rank import store
from distlab.rank.store import PromptStore


@pytest.fixture
def stores(tmp_path):
    """Two ranks' stores in one file."""
    return [PromptStore(str(tmp_path / "store"), 2) for _ in range(2)]


def test_what_one_sets_all_get(stores):
    stores[0].set("key", "value")
    assert [store.get("key") for store in stores] == [b"value", b"value"]
    assert stores[1].add("count", 2) == 2 and stores[0].add("count", 3) == 5
    assert stores[0].check(["key", "count"]) and not stores[0].check(["key", "other"])
    assert stores[1].compare_set("key", "value", "new") == b"new"
    assert stores[0].delete_key("key") and not stores[1].check(["key"])


@pytest.mark.parametrize("soon", [True, False])
def test_whoever_waits_hears_of_it(stores, monkeypatch, soon):
    """Of what is written while it looks again at once, and of what is written later."""
    looked = threading.Event()
    if not soon:
        monkeypatch.setattr(store, "LOOK", store.LATE)

    class Looked(PromptStore):
        def _values(self, keys):
            values = super()._values(keys)
            looked.set()
            return values

    reader = Looked(stores[0].path, 2)

    def write() -> None:
        looked.wait()
        stores[1].set("key", "value")

    writing = threading.Thread(target=write, daemon=True)
    writing.start()
    assert reader.get("key") == b"value"
    writing.join()


@pytest.mark.parametrize("made", [dist.FileStore, PromptStore])
def test_torch_finds_all_that_a_file_store_has(tmp_path, made):
    """Through its C++, which calls a Python store by other names."""
    own = made(str(tmp_path / "store"), 1)
    group = dist.PrefixStore("group", own)
    before = group.num_keys()
    group.set("key", "value")
    assert group.num_keys() == before + 1
    assert group.compare_set("key", "value", "new") == b"new"
    assert group.clone().get("key") == b"new"
    assert group.delete_key("key") and not group.check(["key"])


@pytest.mark.parametrize("made", [dist.FileStore, PromptStore])
@pytest.mark.parametrize(
    ("before", "expected", "there"),
    [(None, "", b"new"), (None, "old", b"old"), ("old", "old", b"new"), ("old", "", b"old"),
     ("", "", b"new")],
)  # fmt: skip
def test_it_compares_as_a_file_store_does(tmp_path, made, before, expected, there):
    own = made(str(tmp_path / "store"), 1)
    if before is not None:
        own.set("key", before)
    assert own.compare_set("key", expected, "new") == there


def test_a_large_value_comes_whole(stores):
    """One that is read in many parts, and what lies behind it."""
    large = bytes(range(256)) * 1024
    stores[0].set("large", large)
    stores[0].set("next", "1")
    assert stores[1].get("large") == large and stores[1].get("next") == b"1"


def test_what_is_not_whole_is_waited_for(stores):
    """A rank that has its processor taken in the middle of a write leaves half an entry."""
    reader, writer = stores
    writer.set("key", "value")
    with open(writer.path, "rb") as file:
        entry = file.read()
    for length in range(len(entry)):
        with open(writer.path, "r+b") as file:
            file.truncate(length)
        assert not reader.check(["key"])
        with open(writer.path, "r+b") as file:
            file.write(entry)
    assert reader.get("key") == b"value"


def test_nobody_s_count_is_lost(tmp_path):
    """Eight who add at the same time, and set other keys meanwhile."""

    def count(number: int) -> None:
        own = PromptStore(str(tmp_path / "store"), 8)
        for step in range(200):
            own.add("count", 1)
            own.set(f"{number}-{step}", "there")

    threads = [threading.Thread(target=count, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    own = PromptStore(str(tmp_path / "store"), 8)
    assert own.add("count", 0) == 1600 and own.num_keys() == 1601


@pytest.mark.parametrize("made", [dist.FileStore, PromptStore])
@pytest.mark.parametrize(
    ("before", "total"),
    [("", 2), ("5", 7), ("-5", -3), (" 7\n", 9), ("3.7", 5), ("5 left", 7), ("1_0", 3),
     (str(2**63 - 1), 1 - 2**63)],
)  # fmt: skip
def test_it_adds_to_what_a_file_store_reads_as_a_number(tmp_path, made, before, total):
    own = made(str(tmp_path / "store"), 1)
    own.set("key", before)
    assert own.add("key", 2) == total and own.get("key") == str(total).encode()


@pytest.mark.parametrize("made", [dist.FileStore, PromptStore])
def test_what_is_no_number_stays_as_it_was(tmp_path, made):
    own = made(str(tmp_path / "store"), 1)
    own.set("key", "many")
    with pytest.raises(ValueError):
        own.add("key", 2)
    assert own.get("key") == b"many"


def test_nothing_set_is_lost_under_what_another_adds(stores):
    """Who adds to what was there before it was set would write over it."""
    setting = ["1000"]

    class Adding(PromptStore):
        def _append(self, *entry):
            if setting:
                stores[0].set("count", setting.pop())
            super()._append(*entry)

    adding = Adding(stores[0].path, 2)
    adding.check(["count"])
    assert adding.add("count", 1) == 1001 == int(stores[0].get("count"))


@pytest.mark.parametrize("made", [dist.FileStore, PromptStore])
def test_a_forked_process_counts_with_it(tmp_path, made):
    """It has the file open together with this one, so that no lock would hold between the two."""
    own = made(str(tmp_path / "store"), 1)
    own.add("count", 0)
    children = []
    for _ in range(3):
        if (child := os.fork()) == 0:
            try:
                own.wait(["begin"], datetime.timedelta(seconds=20))
                for _ in range(200):
                    own.add("count", 1)
            finally:
                os._exit(0)
        children.append(child)
    own.set("begin", "")
    for _ in range(200):
        own.add("count", 1)
    for child in children:
        os.waitpid(child, 0)
    assert own.add("count", 0) == 800


def test_a_fork_waits_for_no_thread_that_it_has_not(stores):
    """Another thread of the rank looks just then, and holds what nobody gives back there."""
    own, ended = stores[0], threading.Event()
    own.set("key", "value")

    def poll() -> None:
        while not ended.is_set():
            own.check(["never"])

    polling = threading.Thread(target=poll, daemon=True)
    polling.start()
    try:
        for _ in range(10):
            if (child := os.fork()) == 0:
                signal.alarm(10)  # ends it where it hangs
                own.check(["key"])
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        ended.set()
        polling.join()


def test_a_signal_s_handler_may_use_it(stores, monkeypatch):
    """It comes in the middle of a look, in the same thread; and reads what that one is to read."""
    own, other = stores
    own.add("count", 1)
    coming, handled = [signal.SIGUSR1], []

    def handler(*_: object) -> None:
        handled.append(own.add("count", 1))

    taken = PromptStore._take

    def interrupted(self: PromptStore, data: bytes, begin: int) -> int:
        if coming:
            signal.raise_signal(coming.pop())
        return taken(self, data, begin)

    monkeypatch.setattr(PromptStore, "_take", interrupted)
    previous = signal.signal(signal.SIGUSR1, handler)
    try:
        other.set("key", "value")
        assert own.check(["key"])
    finally:
        signal.signal(signal.SIGUSR1, previous)
    assert handled == [2] and own.add("count", 1) == 3 == int(other.get("count"))


def test_whoever_is_interrupted_counts_nothing_twice(stores, monkeypatch):
    """A handler that raises, as one for a time limit does, where entries are read in part."""
    own, other = stores
    for _ in range(3):
        other.add("count", 1)
    done, calls = store._done, []

    def interrupted(*args):
        calls.append(args)
        if len(calls) == 3:
            raise TimeoutError
        return done(*args)

    monkeypatch.setattr(store, "_done", interrupted)
    with pytest.raises(TimeoutError):
        own.check(["count"])
    assert own.get("count") == b"3"


@pytest.mark.parametrize(
    "nonsense", [b"\xff" * 9, b"\x01\0\0\0\0\0\0\0\0\xff", b"\0" * 8 + b"\x01", b"\0" * 1000]
)
def test_it_says_so_when_its_file_has_been_spoiled(stores, nonsense):
    """With lengths of what never comes, a key that is no text, half of an addition, zeros."""
    stores[0].set("key", "value")
    with open(stores[0].path, "ab") as file:
        file.write(nonsense)
    with pytest.raises(OSError, match="who else has written to it"):
        stores[0].add("count", 1)


def test_it_gives_up_as_a_file_store_does(stores):
    with pytest.raises(RuntimeError, match="^Wait timeout"):
        stores[0].wait(["never"], datetime.timedelta(seconds=0.02))
    stores[0].set_timeout(datetime.timedelta(seconds=0.02))
    with pytest.raises(RuntimeError, match="^Timeout waiting for key: never after 20 ms"):
        stores[0].get("never")


def test_it_ends_without_a_warning(tmp_path):
    """A program that has all warnings shown would find one of ours among what the next prints."""
    gc.collect()  # or what an earlier test left would warn here
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        PromptStore(str(tmp_path / "store"), 1).clone().set("key", "value")
        gc.collect()
    assert [str(one.message) for one in warned] == []


def test_groups_are_made_over_it(stores):
    alone = PromptStore(f"{stores[0].path}-alone", 1)
    dist.init_process_group("gloo", store=alone, rank=0, world_size=1)
    try:
        assert dist.get_world_size(dist.new_group([0])) == 1
    finally:
        dist.destroy_process_group()
