import datetime
import threading

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
        monkeypatch.setattr(store, "SOON", 0.0)

    class Looked(PromptStore):
        def _has(self, keys):
            there = super()._has(keys)
            looked.set()
            return there

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


def test_it_gives_up_as_a_file_store_does(stores):
    with pytest.raises(RuntimeError, match="^Wait timeout"):
        stores[0].wait(["never"], datetime.timedelta(seconds=0.02))
    stores[0].set_timeout(datetime.timedelta(seconds=0.02))
    with pytest.raises(RuntimeError, match="^Timeout waiting for key: never after 20 ms"):
        stores[0].get("never")


def test_groups_are_made_over_it(stores):
    alone = PromptStore(f"{stores[0].path}-alone", 1)
    dist.init_process_group("gloo", store=alone, rank=0, world_size=1)
    try:
        assert dist.get_world_size(dist.new_group([0])) == 1
    finally:
        dist.destroy_process_group()
