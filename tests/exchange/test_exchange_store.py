"""The exchange on its disk: complete or not at all, in the order of time, within limits."""

import asyncio
import errno
import fcntl
import hashlib
import os
import shutil
import threading
from pathlib import Path

import pytest
from nbgrader.utils import notebook_hash
from served import COURSE, LAB, folder_of

from distlab.exchange import manifest as manifests
from distlab.exchange import staging
from distlab.exchange.limits import Limits, Turns
from distlab.exchange.manifest import File, Manifest
from distlab.exchange.names import Refused
from distlab.exchange.state import State
from distlab.exchange.store import Busy, Missing, NotThere, Store, page_of

KEY = "ab" * 16


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "exchange", Limits(reserve=0))
    yield made
    made.close()


@pytest.fixture
def lab(store, tmp_path):
    """A lab that is handed out; its folder and its files."""
    folder = folder_of(tmp_path / "lab", a_ipynb="{}", data__x="1234", twice="1234", empty="")
    files = manifests.of_folder(folder)
    sent(store, "lecturer", folder, files)
    store.release(COURSE, "lecturer", LAB, files)
    return folder, files


def sent(store, who, folder, files):
    """Send all contents."""
    begun = store.staging(COURSE, who)
    for file in files.files:
        if have := begun.have(files).get(file.sha256, 0) or file.sha256 in begun.have(files):
            content = (folder / file.path).read_bytes()[int(have is not True and have) :]
            handle = begun.open(file.sha256, begun.size(file.sha256), len(content))
            os.write(handle, content)
            os.close(handle)


def handed_in(store, lab, who="ada", key=KEY):
    sent(store, who, *lab)
    return store.hand_in(COURSE, who, LAB, lab[1], key)


def left_over(store):
    """Folders that were being put together and came nowhere."""
    return list((store.root / staging.FOLDER).rglob("new-*"))


def test_what_is_handed_in_lies_there_as_nbgrader_has_it(store, lab):
    made = handed_in(store, lab)
    folder = store.root / COURSE / "inbound" / made.name
    assert made.name.startswith(f"ada+{LAB}+") and (folder / "data" / "x").read_text() == "1234"
    assert (folder / "timestamp.txt").read_text() == made.when
    assert len((folder / "submission_secret.txt").read_text()) == 128
    assert (folder / "empty").read_bytes() == b"" and (folder / "twice").read_text() == "1234"
    assert not list((store.root / staging.FOLDER).rglob("contents/*"))
    assert {p.stat().st_mode & 0o077 for p in folder.iterdir() if p.is_dir()} <= {0, 0o055}


def test_nothing_is_taken_before_all_of_it_is_there(store, lab):
    with pytest.raises(Missing) as missing:
        store.hand_in(COURSE, "ada", LAB, lab[1], KEY)
    assert set(missing.value.have.values()) == {0} and len(missing.value.have) == 2
    assert not store.submissions(COURSE) and not list((store.root / COURSE / "inbound").iterdir())


def test_a_content_that_is_not_what_its_digest_says_is_sent_again(store, lab):
    sent(store, "ada", *lab)
    (content, *_) = (store.root / staging.FOLDER / COURSE / "ada" / "contents").iterdir()
    content.write_bytes(b"x" * content.stat().st_size)
    with pytest.raises(Missing) as missing:
        store.hand_in(COURSE, "ada", LAB, lab[1], KEY)
    assert missing.value.have == {content.name: 0} and not store.submissions(COURSE)
    assert handed_in(store, lab).student == "ada"


def test_more_bytes_than_the_content_has_are_dropped(store, lab):
    sent(store, "ada", *lab)
    (content, *_) = (store.root / staging.FOLDER / COURSE / "ada" / "contents").iterdir()
    content.write_bytes(content.read_bytes() + b"more")
    with pytest.raises(Missing) as missing:
        store.hand_in(COURSE, "ada", LAB, lab[1], KEY)
    assert missing.value.have == {content.name: 0}


def test_the_same_key_twice_is_one_submission(store, lab):
    first = handed_in(store, lab)
    assert store.hand_in(COURSE, "ada", LAB, lab[1], KEY) == first  # with nothing sent again
    assert handed_in(store, lab, key="cd" * 16) != first and len(store.submissions(COURSE)) == 2


def test_a_content_that_another_has_sent_is_nobody_elses(store, lab):
    sent(store, "ada", *lab)
    with pytest.raises(Missing):
        store.hand_in(COURSE, "ben", LAB, lab[1], KEY)


def test_the_time_is_the_services_and_never_goes_back(tmp_path, lab, store):
    now = [1_800_000_000.0]
    store._clock = lambda: now[0]
    when = [handed_in(store, lab, key=f"{n:032x}").when for n in range(2)]
    now[0] -= 7200  # somebody sets the clock back: the last to be handed in stays the last
    when.append(handed_in(store, lab, key="c" * 32).when)
    assert when == sorted(set(when)) and when[0].startswith("2027-01-15 08:00:00.000000")
    now[0] -= 7200
    assert handed_in(store, lab, who="ben").when < when[0]


def test_a_lab_that_is_not_handed_out_is_not_taken(store, lab):
    sent(store, "ada", *lab)
    with pytest.raises(NotThere):
        store.hand_in(COURSE, "ada", "02-lab", lab[1], KEY)


def test_labs_are_replaced_as_a_whole_and_only_when_asked(store, lab, tmp_path):
    store.release(COURSE, "lecturer", LAB, lab[1])  # the same again, since an answer was lost
    folder = folder_of(tmp_path / "new", a_ipynb="[]")
    files = manifests.of_folder(folder)
    sent(store, "lecturer", folder, files)
    with pytest.raises(Refused, match="--force"):
        store.release(COURSE, "lecturer", LAB, files)
    store.release(COURSE, "lecturer", LAB, files, replace=True)
    assert [file.path for file in store.lab(COURSE, LAB).files] == ["a.ipynb"]
    store.withdraw(COURSE, LAB)
    assert store.labs(COURSE) == []
    with pytest.raises(NotThere):
        store.lab(COURSE, LAB)


def test_two_who_replace_a_lab_at_once_are_not_in_each_others_way(
    store, lab, tmp_path, monkeypatch
):
    """The name that the earlier form has meanwhile is the same for both."""
    folder = folder_of(tmp_path / "new", a_ipynb="[]")
    files = manifests.of_folder(folder)
    sent(store, "lecturer", folder, files)
    held, remove = [], shutil.rmtree

    def removed(path, **how):
        held.append(store._swapping.locked())
        remove(path, **how)

    monkeypatch.setattr(shutil, "rmtree", removed)
    store.release(COURSE, "lecturer", LAB, files, replace=True)
    assert held == [True]


@pytest.mark.parametrize("new_is_there", [False, True])
def test_a_service_that_was_killed_while_it_replaced_a_lab_has_one_of_the_two(
    store, lab, new_is_there
):
    outbound = store.root / COURSE / "outbound"
    os.rename(outbound / LAB, outbound / f".old-{LAB}")
    if new_is_there:
        folder_of(outbound / LAB, new="1")
    (outbound / ".gone-02-lab-0123abcd").mkdir()
    (store.root / staging.FOLDER / COURSE / "ada" / "new-1").mkdir(parents=True)
    store.close()
    again = Store(store.root)
    found = [file.path for file in again.lab(COURSE, LAB).files]
    assert found == (["new"] if new_is_there else [file.path for file in lab[1].files])
    assert [p.name for p in outbound.iterdir()] == [LAB]
    assert not list((store.root / staging.FOLDER).rglob("new-*"))
    again.close()


def test_a_lab_that_cannot_be_replaced_is_handed_out_as_before(store, lab, tmp_path, monkeypatch):
    folder = folder_of(tmp_path / "new", a_ipynb="[]")
    files = manifests.of_folder(folder)
    sent(store, "lecturer", folder, files)
    rename = os.rename

    def fails(source, to):
        if to == store.root / COURSE / "outbound" / LAB and not source.name.startswith(".old-"):
            raise OSError(errno.ENOSPC, "No space left on device")
        rename(source, to)

    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", fails)
        with pytest.raises(staging.Full):
            store.release(COURSE, "lecturer", LAB, files, replace=True)
    assert store.lab(COURSE, LAB) == lab[1] and not left_over(store)
    sent(store, "lecturer", folder, files)
    store.release(COURSE, "lecturer", LAB, files, replace=True)
    assert store.lab(COURSE, LAB) == files
    assert not list((store.root / COURSE / "outbound").glob(".*"))


def test_a_disk_without_room_for_a_folder_is_full_too(store, monkeypatch):
    def mkdir(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with pytest.raises(staging.Full):
        store.staging(COURSE, "ada").open("0" * 64, 0, 1)


def test_a_folder_that_cannot_be_locked_is_not_said_to_be_anothers(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(Busy, match="cannot be locked .*No locks available"):
        Store(tmp_path / "exchange")


def test_an_exchange_has_one_service(store):
    with pytest.raises(Busy, match="has one"):
        Store(store.root)


def test_a_page_is_found_by_the_secret_of_its_submission_alone(store, lab, tmp_path):
    ada, ben = handed_in(store, lab), handed_in(store, lab, who="ben")
    secret = store.secret(ada)
    assert page_of(secret, "a") == f"{notebook_hash(secret=secret, notebook_id='a')}.html"
    folder = folder_of(tmp_path / "pages", **{page_of(secret, "a"): "well done"})
    pages = manifests.of_folder(folder)
    sent(store, "lecturer", folder, pages)
    store.release_feedback(COURSE, "lecturer", pages)
    assert list(store.feedback(ada)) == ["a"] and store.feedback(ben) == {}
    with store.open_feedback(ada, pages.files[0].sha256) as page:
        assert page.read() == b"well done"
    with pytest.raises(NotThere):
        store.open_feedback(ben, pages.files[0].sha256)


def test_a_page_of_feedback_has_the_name_of_one(store):
    of = hashlib.sha256(b"").hexdigest()
    for name in ("x.html", "../" + "a" * 32 + ".html", "a" * 32):
        with pytest.raises(Refused):
            store.release_feedback(COURSE, "lecturer", Manifest((File(name, 0, of),)))


LIMITS = Limits(file=10, submission=25, files=3, kept=600, submissions=2, begun=3, begun_bytes=20,
                reserve=0)  # fmt: skip


def manifest(*sizes):
    return [{"path": f"f{n}", "size": size, "sha256": f"{n:064x}"} for n, size in enumerate(sizes)]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (manifest(11), "a file may have 10"), (manifest(9, 9, 9), "taken at once"),
        (manifest(1, 1, 1, 1), "at most 3"), ([], "no file"), (manifest(1) * 2, "twice"),
        (None, "missing"), ("x", "missing"), ([1], "not as it should"), (manifest(-1), "no size"),
        (manifest(True), "no size"), (manifest(1.5), "no size"), ([{"size": 1}], "no name"),
        ([{"path": "x", "size": 1, "sha256": "../x"}], "digest"), (manifest(0), "empty file"),
        ([*manifest(1), {"path": "f0/x", "size": 1, "sha256": "a" * 64}], "a file itself"),
        ([{"path": "é", "size": 1, "sha256": "a" * 64},
          {"path": "e\u0301", "size": 1, "sha256": "a" * 64}], "twice"),
        ([{"path": "a", "size": 1, "sha256": "a" * 64},
          {"path": "b", "size": 2, "sha256": "a" * 64}], "two sizes"),
    ],
)  # fmt: skip
def test_a_list_of_files_that_is_too_much_or_none_is_refused(files, said):
    with pytest.raises(Refused, match=said):
        manifests.parse(files, LIMITS)


def test_how_much_can_be_begun_is_bounded(tmp_path):
    begun = staging.Staging(tmp_path, COURSE, "ada", LIMITS)
    with pytest.raises(Refused, match="a file may have 10"):
        begun.open("a" * 64, 0, 11)
    for name in "abc":
        os.close(begun.open(name * 64, 0, 1))
    with pytest.raises(Refused, match="3 files were begun"):
        begun.open("d" * 64, 0, 1)
    for name in "ab":
        path = tmp_path / ".begun" / COURSE / "ada" / "contents" / (name * 64)
        path.write_bytes(b"x" * 10)
    with pytest.raises(Refused, match="20 bytes were begun"):
        begun.open("c" * 64, 0, 1)
    with pytest.raises(staging.Elsewhere) as elsewhere:
        begun.open("a" * 64, 3, 1)
    assert elsewhere.value.offset == 10
    os.close(staging.Staging(tmp_path, COURSE, "ben", LIMITS).open("d" * 64, 0, 1))


def test_how_much_is_kept_of_a_student_is_bounded(tmp_path, lab, store):
    store.limits = LIMITS
    handed_in(store, lab, key="1" * 32)
    store.limits = Limits(reserve=0, submissions=2, kept=170)
    sent(store, "ada", *lab)
    with pytest.raises(Refused, match="kept of a student"):
        store.hand_in(COURSE, "ada", LAB, lab[1], "2" * 32)
    store.limits = Limits(reserve=0, kept_files=9)  # 4 and the exchange's 2 are there
    with pytest.raises(Refused, match="6 files were handed in already"):
        store.hand_in(COURSE, "ada", LAB, lab[1], "2" * 32)
    store.limits = Limits(reserve=0, submissions=1)
    with pytest.raises(Refused, match="1 times"):
        store.hand_in(COURSE, "ada", LAB, lab[1], "2" * 32)
    assert handed_in(store, lab, who="ben").student == "ben"


def test_a_disk_with_no_room_says_so_and_loses_nothing(store, lab, monkeypatch):
    store.limits = Limits(reserve=1 << 60)
    with pytest.raises(staging.Full, match="disk is full"):
        store.staging(COURSE, "ada").open("a" * 64, 0, 1)
    store.limits = Limits(reserve=0)
    first = handed_in(store, lab)
    sent(store, "ada", *lab)

    def full(*words, **more):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(staging, "sync", full)
        with pytest.raises(staging.Full):
            store.hand_in(COURSE, "ada", LAB, lab[1], "2" * 32)
    assert store.submissions(COURSE) == [first]
    assert not left_over(store)
    assert handed_in(store, lab, key="2" * 32) != first


@pytest.mark.parametrize("path", ["timestamp.txt/a", "submission_secret.txt/a"])
def test_a_whole_that_fails_leaves_nothing_that_counts_to_nobody(store, lab, tmp_path, path):
    folder = folder_of(tmp_path / "mine")
    (folder / path).parent.mkdir(parents=True)
    (folder / path).write_text("bytes")
    files = manifests.of_folder(folder)
    sent(store, "ada", folder, files)
    with pytest.raises(OSError):  # the service refuses such names before
        store.hand_in(COURSE, "ada", LAB, files, KEY)
    assert not store.submissions(COURSE) and not left_over(store)


def test_copies_of_a_content_leave_room_too(store, lab, monkeypatch):
    sent(store, "ada", *lab)
    store.limits = Limits(reserve=1000)
    monkeypatch.setattr(staging, "_free", lambda root: 1003)
    with pytest.raises(staging.Full):
        store.hand_in(COURSE, "ada", LAB, lab[1], KEY)
    monkeypatch.setattr(staging, "_free", lambda root: 1004)  # "1234" is there twice
    assert store.hand_in(COURSE, "ada", LAB, lab[1], KEY) in store.submissions(COURSE)


def test_what_nobody_goes_on_with_is_forgotten_and_what_is_new_stays(store):
    begun = store.staging(COURSE, "ada")
    for name in "ab":
        os.close(begun.open(name * 64, 0, 1))
    old = next(Path(store.root / ".begun").rglob("a" * 64))
    os.utime(old, (0, 0))
    store.sweep()
    assert [p.name for p in old.parent.iterdir()] == ["b" * 64]


def test_a_person_has_so_many_requests_at_once_and_in_a_row():
    turns = Turns(Limits(at_once=2, burst=3, rate=0.001))
    assert [turns.take() > 0 for _ in range(3)] == [False, False, True]
    turns.active = 0
    assert turns.take() == 0 and turns.take() > 100 and not turns.is_idle


def test_the_service_answers_while_it_looks_for_what_is_forgotten(store, monkeypatch):
    answered, heard = threading.Event(), []
    monkeypatch.setattr(store, "sweep", lambda: heard.append(answered.wait(20)))

    async def served():
        sweeping = asyncio.create_task(State(store, None).sweep())
        await asyncio.sleep(0)  # it has begun
        answered.set()  # a service that waits for it does not come to this
        await sweeping

    asyncio.run(served())
    assert heard == [True]
