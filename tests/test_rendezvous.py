import datetime
import threading

import pytest
import torch.distributed as dist

from distlab.rendezvous import SOON, PromptStore


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


@pytest.mark.parametrize("late", [0.0, 2 * SOON], ids=["soon", "later"])
def test_whoever_waits_hears_of_it(stores, late):
    """Also where it takes longer than warm ranks do, and the file's own patience begins."""
    looked = threading.Event()

    def write() -> None:
        looked.wait()
        threading.Event().wait(late)
        stores[1].set("key", "value")

    class Looked(PromptStore):
        def check(self, keys):
            looked.set()
            return super().check(keys)

    writing = threading.Thread(target=write, daemon=True)
    writing.start()
    assert Looked(stores[0].path, 2).get("key") == b"value"
    writing.join()


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
