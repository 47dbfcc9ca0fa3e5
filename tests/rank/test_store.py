import datetime
import threading

import pytest
import torch.distributed as dist

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


class Watched:
    """A rank's file store that tells when its own patience is asked for."""

    def __init__(self, file, asked):
        self._file, self._asked = file, asked

    def wait(self, *args):
        self._asked.set()
        return self._file.wait(*args)

    def __getattr__(self, name):
        return getattr(self._file, name)


@pytest.mark.parametrize("soon", [True, False])
def test_whoever_waits_hears_of_it(stores, soon):
    """Of what is written while it looks, and of what is written once the file's own wait begins."""
    waits = threading.Event()

    class Looked(PromptStore):
        def check(self, keys):
            if soon:
                waits.set()
            return super().check(keys)

    reader = Looked(stores[0].path, 2)
    if not soon:
        reader._file = Watched(reader._file, waits)

    def write() -> None:
        waits.wait()
        stores[1].set("key", "value")

    writing = threading.Thread(target=write, daemon=True)
    writing.start()
    assert reader.get("key") == b"value"
    writing.join()


@pytest.mark.parametrize("made", [dist.FileStore, PromptStore])
def test_torch_finds_all_that_a_file_store_has(tmp_path, made):
    """Through its C++, which calls a Python store by other names."""
    own = made(str(tmp_path / "store"), 1)
    store = dist.PrefixStore("group", own)
    before = store.num_keys()
    store.set("key", "value")
    assert store.num_keys() == before + 1
    assert store.compare_set("key", "value", "new") == b"new"
    assert store.clone().get("key") == b"new"
    assert store.delete_key("key") and not store.check(["key"])


def test_it_gives_up_as_a_file_store_does(stores):
    with pytest.raises(RuntimeError, match="timeout"):
        stores[0].wait(["never"], datetime.timedelta(seconds=0.02))


def test_groups_are_made_over_it(stores):
    alone = PromptStore(f"{stores[0].path}-alone", 1)
    dist.init_process_group("gloo", store=alone, rank=0, world_size=1)
    try:
        assert dist.get_world_size(dist.new_group([0])) == 1
    finally:
        dist.destroy_process_group()
