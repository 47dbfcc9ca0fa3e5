"""Own inputs by the exchange's service: each student is given their own, and no other's."""

import hashlib
import os
from pathlib import Path

import pytest
from nbgrader.coursedir import CourseDirectory
from served import COURSE, LAB, Hub, Service, folder_of
from traitlets.config import Config

from distlab.checking import own_inputs as checked
from distlab.exchange import base
from distlab.exchange import manifest as manifests
from distlab.exchange import own_inputs as kept
from distlab.exchange.client import ExchangeFailed
from distlab.exchange.limits import Limits
from distlab.exchange.listing import List
from distlab.exchange.manifest import File, Manifest
from distlab.exchange.names import Refused
from distlab.exchange.store import Missing, Store
from distlab.exchange.student import FetchAssignment
from grader.plugins import exchanges

WHERE, BEN = f"own-inputs/{COURSE}", b"of ben alone"


def digest(content):
    return hashlib.sha256(content).hexdigest()


def file_of(content, name=kept.NAME):
    return Manifest((File(name, len(content), digest(content)),))


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "exchange", Limits(reserve=0))
    yield made
    made.close()


def send(store, content, who="lecturer", course=COURSE):
    handle = store.staging(course, who).open(digest(content), 0, len(content))
    with open(handle, "wb") as file:
        file.write(content)


def put(store, student, content, lab=LAB, course=COURSE):
    send(store, content, course=course)
    store.own_inputs.put(course, "lecturer", student, lab, file_of(content))


def read(store, student, content, lab=LAB):
    found = store.own_inputs.open(COURSE, student, lab, digest(content))
    if found is None:
        return None
    with found:
        return found.read()


def test_both_sides_mean_the_same_places():
    assert checked.FETCHED == base.OWN_INPUTS and checked.NAME == kept.NAME


def test_each_is_given_their_own(store):
    for student in ("ada", "Ada", "straße", "strasse"):
        put(store, student, student.encode())
    for student in ("ada", "Ada", "straße", "strasse"):
        assert [one.student for one in store.own_inputs.of(COURSE, student)] == [student]
        assert read(store, student, student.encode()) == student.encode()
    assert read(store, "ada", b"Ada") is None  # though its digest is known
    assert len(store.own_inputs.all(COURSE)) == 4 and not store.own_inputs.all("other")
    assert not store.own_inputs.of(COURSE, "eve")


def test_what_is_made_anew_stands_in_the_first_one_s_place(store):
    put(store, "ada", b"first")
    put(store, "ada", b"second")
    assert read(store, "ada", b"first") is None and read(store, "ada", b"second") == b"second"
    store.own_inputs.put(COURSE, "lecturer", "ada", LAB, file_of(b"second"))  # answer lost
    with pytest.raises(Missing):
        store.own_inputs.put(COURSE, "lecturer", "ada", LAB, file_of(b"first"))
    assert read(store, "ada", b"second") == b"second"
    assert not list(store.root.rglob("new-*"))  # folders in which files came together


@pytest.mark.parametrize(
    "files",
    [Manifest(()), file_of(b"x", "other.json"),
     Manifest((*file_of(b"x").files, *file_of(b"x", "more").files))],
)  # fmt: skip
def test_only_one_file_of_that_name_is_taken(store, files):
    send(store, b"x")
    with pytest.raises(Refused, match="are one file"):
        store.own_inputs.put(COURSE, "lecturer", "ada", LAB, files)


@pytest.mark.parametrize("student", ["", "..", "../ada", "a/b", ".begun", "n" * 81])
def test_a_name_that_leads_elsewhere_is_refused(store, student):
    send(store, b"x")
    with pytest.raises(Refused):
        store.own_inputs.put(COURSE, "lecturer", student, LAB, file_of(b"x"))
    assert not (store.root / COURSE).exists()


def test_a_link_in_the_place_of_a_file_is_nobody_s(store, tmp_path):
    put(store, "ada", b"x")
    (tmp_path / "secret").write_bytes(b"y")
    place = store.root / COURSE / "own-inputs" / "ada" / LAB / kept.NAME
    place.unlink()
    place.symlink_to(tmp_path / "secret")
    assert read(store, "ada", b"y") is None and not store.own_inputs.of(COURSE, "ada")


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    pytest.importorskip("jupyterhub", reason="the Hub is not installed: pip install jupyterhub")
    folder = tmp_path_factory.mktemp("served")
    with Hub() as hub, Service(hub, folder / "exchange", ["--reserve=0"]) as made:
        yield made


def hand_out(service, tmp_path, student, content, lab=LAB, who="grading"):
    path = tmp_path / student / kept.NAME
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    with service.client(who) as client:
        files = file_of(content)
        client.hand_out(COURSE, student, lab, path.parent, files)


@pytest.mark.slow  # a service is started
def test_nobody_is_given_another_s(service, tmp_path):
    large = os.urandom(9_000_000)  # in several requests
    hand_out(service, tmp_path, "ada", large)
    hand_out(service, tmp_path, "ben", BEN)
    with service.client("ada") as client:
        (one,) = client.own_inputs(COURSE)
        assert (one["student"], one["lab"], one["sha256"]) == ("ada", LAB, digest(large))
        client.fetch((*WHERE.split("/"), LAB), one["sha256"], one["size"], tmp_path / "got")
    assert (tmp_path / "got").read_bytes() == large

    def status(who, method, path, **more):
        return service.ask(who, method, path, **more).status_code

    of_ben = f"{WHERE}/{LAB}/{digest(BEN)}"
    assert status("ben", "GET", of_ben) == 200
    for who, expected in (("ada", 404), ("lecturer", 404), ("grading", 404), ("stranger", 404)):
        assert status(who, "GET", of_ben) == expected, who
    assert status("nobody", "GET", of_ben) == 401
    assert status("ada", "GET", f"{WHERE}?of=everybody") == 403
    assert status("stranger", "GET", WHERE) == 404
    assert status("stranger", "GET", f"{WHERE}?of=everybody") == 404
    with service.client("lecturer") as client:
        everybody = client.own_inputs(COURSE, everybody=True)
    assert [one["student"] for one in everybody] == ["ada", "ben"]
    for who, expected in (("ada", 403), ("stranger", 404)):
        files = {"files": file_of(b"x").as_json()}
        assert status(who, "PUT", f"{WHERE}/of/ada/{LAB}", json=files) == expected
    for name in ("..%2Fada", "%2e%2e", ".hidden"):
        assert status("lecturer", "PUT", f"{WHERE}/of/{name}/{LAB}", json=files) in (400, 404)
    assert status("ada", "GET", f"{WHERE}/%2e%2e/{digest(b'x')}") in (400, 404)


@pytest.mark.slow
def test_a_service_that_is_killed_has_what_it_took(service, tmp_path):
    hand_out(service, tmp_path, "cleo", b"cleo's")
    service.kill()
    service.start()
    with service.client("cleo") as client:
        assert [one["lab"] for one in client.own_inputs(COURSE)] == [LAB]


@pytest.fixture
def student(service, tmp_path, monkeypatch):
    """`student(class)` is one of nbgrader's steps on ada's server."""
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "of-ada")
    monkeypatch.setenv("JUPYTERHUB_USER", "ada")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv(checked.VARIABLE, raising=False)
    with service.client("lecturer") as client:
        lab = folder_of(tmp_path / "lab", a_ipynb='{"cells": []}')
        client.release(COURSE, LAB, lab, manifests.of_folder(lab), replace=True)

    def step(kind, **options):
        config = Config()
        config.HTTPExchange.url, config.HTTPExchange.patience = service.url, 5.0
        config.Exchange.cache = str(tmp_path / "cache")
        config.CourseDirectory.root = str(tmp_path / "home")
        config.CourseDirectory.course_id = COURSE
        config.CourseDirectory.assignment_id = LAB
        config.Exchange.assignment_dir = str(tmp_path / "home")
        (tmp_path / "home").mkdir(exist_ok=True)
        return kind(coursedir=CourseDirectory(config=config), config=config, **options)

    return step


@pytest.mark.slow
def test_a_student_s_server_fetches_them_with_the_lab_and_afterwards(service, tmp_path, student):
    hand_out(service, tmp_path, "ada", b"first")
    student(FetchAssignment).start()
    place = tmp_path / "home/.local/share/distlab/own-inputs" / COURSE / "ada" / LAB / kept.NAME
    assert place.read_bytes() == b"first"
    assert place in list(checked._places(LAB, Path("/nowhere")))
    hand_out(service, tmp_path, "ada", b"second")  # the course has changed since
    student(List).start()
    assert place.read_bytes() == b"second"
    place.unlink()
    place.parent.rmdir()
    place.parent.write_text("in the way")
    assert student(List).start()  # and no listing fails for it


@pytest.mark.slow
def test_the_grader_hands_out_through_the_service(service, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "of-grading")
    config = Config()
    config.HTTPExchange.url, config.HTTPExchange.patience = service.url, 5.0
    config.Exchange.cache = str(tmp_path / "cache")
    found = exchanges.of(config, "", COURSE)
    path = tmp_path / kept.NAME
    path.write_bytes(b"of ben")
    found.hand_out("ben", LAB, path)
    assert found.own_inputs()["ben", LAB] == digest(b"of ben")
    with service.client("ben") as client:
        (one,) = client.own_inputs(COURSE)
        with pytest.raises(ExchangeFailed, match="no such thing"):
            client.fetch((*WHERE.split("/"), LAB), digest(b"other"), 5, tmp_path / "x")
        client.fetch((*WHERE.split("/"), LAB), one["sha256"], one["size"], tmp_path / "got")
    assert (tmp_path / "got").read_bytes() == b"of ben"
