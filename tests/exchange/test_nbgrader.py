"""nbgrader's own classes and pages, with the exchange's service underneath."""

import errno
import fcntl
import json
import os
from pathlib import Path

import pytest
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError, ExchangeFactory
from nbgrader.server_extensions.assignment_list.handlers import AssignmentList
from served import COURSE, LAB, Hub, Service, folder_of
from traitlets.config import Config

from distlab import exchange
from distlab.exchange.client import ExchangeFailed

pytest.importorskip("jupyterhub", reason="the Hub is not installed: pip install jupyterhub")
pytestmark = pytest.mark.slow  # a service is started, and nbgrader imported


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    with Hub() as hub, Service(hub, folder / "exchange", ["--reserve=0"]) as made:
        yield made


@pytest.fixture
def person(service, tmp_path, monkeypatch):
    """`person(name)` makes this process a server of that user's: their folder, and a function that
    does something as nbgrader's commands do, `do("Submit", **options)`.
    """
    cache = tmp_path / "cache"

    def become(name):
        monkeypatch.setenv("JUPYTERHUB_API_TOKEN", f"of-{name}")
        monkeypatch.setenv("DISTLAB_EXCHANGE_URL", service.url)
        home = tmp_path / name
        home.mkdir(exist_ok=True)
        monkeypatch.chdir(home)
        config = Config()
        exchange.use(config)
        config.CourseDirectory.root = str(home)
        config.CourseDirectory.course_id = COURSE
        config.CourseDirectory.assignment_id = LAB
        config.CourseDirectory.db_url = f"sqlite:///{home}/gradebook.db"
        config.Exchange.cache = str(cache / name)
        config.HTTPExchange.patience = 5.0

        def do(what, **options):
            factory = ExchangeFactory(config=config)
            coursedir = CourseDirectory(config=config)
            one = getattr(factory, what)(coursedir=coursedir, config=config)
            for key, value in options.items():
                setattr(one, key, value)
            return one.start()

        do.config = config
        return home, do

    return become


@pytest.fixture
def released(person):
    home, do = person("lecturer")
    folder_of(home / "release" / LAB, a_ipynb='{"cells": []}', data__x="1" * 1000)
    do("ReleaseAssignment", force=True)
    return home, do


def handed_in(person, name="ada", answer="42"):
    home, do = person(name)
    if not (home / LAB).exists():
        do("FetchAssignment")
    (home / LAB / "a.ipynb").write_text(json.dumps({"answer": answer}))
    do("Submit")
    return home, do


def graded(lecturer, student, said="good"):
    """Feedback as `generate_feedback` writes it."""
    home, do = lecturer
    page = home / "feedback" / student / LAB
    page.mkdir(parents=True, exist_ok=True)
    for name in ("timestamp.txt", "submission_secret.txt"):
        (page / name).write_text((home / "submitted" / student / LAB / name).read_text())
    (page / "a.html").write_text(f"{said}, {student}")


def test_a_lab_s_whole_way(person, released):
    ada, do = handed_in(person)
    assert (ada / LAB / "data" / "x").read_text() == "1" * 1000
    handed_in(person, "ben", "43")
    lecturer, collect = person("lecturer")
    collect("Collect", update=True)
    found = {p.parent.parent.name: p.read_text() for p in lecturer.glob("submitted/*/*/a.ipynb")}
    assert found == {"ada": '{"answer": "42"}', "ben": '{"answer": "43"}'}
    assert not list((lecturer / "submitted").glob(".*"))
    for student in ("ada", "ben"):
        graded((lecturer, collect), student)
    collect("ReleaseFeedback")
    for student in ("ada", "ben"):
        home, fetch = person(student)
        fetch("FetchFeedback")
        (page,) = home.glob(f"{LAB}/feedback/*/a.html")
        assert page.read_text() == f"good, {student}"


def test_the_assignment_list_says_how_far_things_are(person, released, monkeypatch):
    home, do = person("cleo")
    listing = AssignmentList()
    listing.root_dir = str(home)
    monkeypatch.setattr(listing, "load_config", lambda: do.config.copy())
    monkeypatch.setattr("nbgrader.server_extensions.assignment_list.handlers.NbGrader",
                        lambda: _App(do.config))  # fmt: skip

    def listed():
        said = listing.list_assignments(course_id=COURSE)
        assert said["success"], said["value"]
        return said["value"]

    (one,) = listed()
    assert (one["status"], [n["notebook_id"] for n in one["notebooks"]]) == ("released", ["a"])
    assert listing.fetch_assignment(COURSE, LAB)["success"]
    (one,) = listed()
    assert one["status"] == "fetched" and one["path"] == LAB
    assert one["notebooks"] == [{"notebook_id": "a", "path": f"{LAB}/a.ipynb"}]
    assert listing.submit_assignment(COURSE, LAB)["success"]
    _, submitted = listed()
    (one,) = submitted["submissions"]
    assert not one["has_exchange_feedback"] and not one["has_local_feedback"]
    lecturer = person("lecturer")
    lecturer[1]("Collect", update=True)
    for said in ("good", "very good"):
        person("lecturer")
        graded(lecturer, "cleo", said)
        lecturer[1]("ReleaseFeedback")
        person("cleo")
        (one,) = listed()[1]["submissions"]
        assert one["has_exchange_feedback"] and one["feedback_updated"] == (said != "good")
        assert listing.fetch_feedback(COURSE, LAB)["success"]
        (one,) = listed()[1]["submissions"]
        assert one["has_local_feedback"] and not one["feedback_updated"]
        assert Path(home, one["local_feedback_path"], "a.html").read_text() == f"{said}, cleo"


class _App:
    def __init__(self, config):
        self.config, self.config_file_paths = config.copy(), []

    def load_config_file(self):
        pass


def test_the_formgrader_s_api_lists_releases_and_collects(person, released):
    _, do = person("lecturer")
    api = NbGraderAPI(CourseDirectory(config=do.config), config=do.config)
    assert api.get_released_assignments() == {LAB}
    assert api.unrelease(LAB)["success"] and api.get_released_assignments() == set()
    assert not api.exchange_missing


def test_a_service_that_is_away_is_a_sentence_and_does_not_keep_graders_from_grading(
    person, monkeypatch
):
    _, do = person("lecturer")
    monkeypatch.setenv("DISTLAB_EXCHANGE_URL", "http://127.0.0.1:9/services/exchange/")
    exchange.use(do.config)
    do.config.HTTPExchange.patience = 0.5
    with pytest.raises(ExchangeError, match="does not answer .*try again later"):
        do("List")
    assert NbGraderAPI(CourseDirectory(config=do.config), config=do.config).exchange_missing
    monkeypatch.delenv("JUPYTERHUB_API_TOKEN")
    with pytest.raises(ExchangeError, match="use a server of the Hub"):
        do("List")


def test_what_was_handed_in_cannot_be_taken_back(person, released):
    _, do = handed_in(person)
    for how in ({"inbound": True}, {"cached": True}):
        with pytest.raises(ExchangeError, match="stays"):
            do("List", remove=True, **how)


def test_a_lab_that_is_there_is_not_overwritten_and_what_is_missing_can_be_had_again(
    person, released
):
    home, do = handed_in(person)
    with pytest.raises(ExchangeError, match="already have a copy"):
        do("FetchAssignment")
    (home / LAB / "data" / "x").unlink()
    do("FetchAssignment", replace_missing_files=True)
    assert (home / LAB / "data" / "x").exists() and "42" in (home / LAB / "a.ipynb").read_text()


def test_files_of_names_that_are_not_taken_keep_nobody_from_handing_in(person, released):
    home, do = person("ada")
    do("FetchAssignment")
    for name in ("a\\b", "nul", "x\u202ey", "timestamp.txt"):
        (home / LAB / name).write_text("x")
    folder_of(home / LAB / "submission_secret.txt", a="x")
    do("Submit")
    (made,) = [one for one in do("List", cached=True)[0]["submissions"]][-1:]
    kept = Path(do.config.Exchange.cache, COURSE, f"ada+{LAB}+{made['timestamp']}")
    assert {p.name for p in kept.iterdir()} == {
        "a.ipynb", "data", "timestamp.txt", "submission_secret.txt",
    }  # fmt: skip
    assert (kept / "timestamp.txt").read_text() == made["timestamp"]


def test_a_notebook_that_is_missing_is_told_and_with_strict_refused(person, released):
    home, do = person("ben")
    do("FetchAssignment")
    os.rename(home / LAB / "a.ipynb", home / LAB / "b.ipynb")
    with pytest.raises(ExchangeError, match="no notebook a .*nothing was handed in"):
        do("Submit", strict=True)
    do("Submit")


def test_the_last_is_collected_and_before_the_due_date_the_last_before_it(
    person, released, service
):
    handed_in(person, answer="first")
    handed_in(person, answer="second")
    home, do = person("lecturer")
    do("Collect", update=True)
    answer = home / "submitted" / "ada" / LAB / "a.ipynb"
    assert "second" in answer.read_text()
    answer.write_text("collected")
    do("Collect", update=True)  # nothing new
    assert answer.read_text() == "collected"
    handed_in(person, answer="third")
    person("lecturer")[1]("Collect", update=True)
    assert "third" in answer.read_text()


def test_one_that_cannot_be_collected_does_not_keep_the_others(person, released, service):
    handed_in(person, "ada"), handed_in(person, "ben", "43")
    spoilt = sorted((service.root / COURSE / "inbound").glob(f"ada+{LAB}+*"))[-1]
    (spoilt / "a\nb").write_text("written by an administrator, by hand")
    home, do = person("lecturer")
    try:
        with pytest.raises(ExchangeError, match="not collected.*ada"):
            do("Collect", update=True)
    finally:
        (spoilt / "a\nb").unlink()
    assert "43" in (home / "submitted" / "ben" / LAB / "a.ipynb").read_text()


def test_collecting_that_was_interrupted_names_nobody_as_the_only_one_left(
    person, released, monkeypatch
):
    """Those behind were not collected either, and would count as if they were."""
    handed_in(person, "ada"), handed_in(person, "ben", "45")
    home, do = person("lecturer")
    made, failing = [], [ExchangeFailed("damaged"), KeyboardInterrupt()]

    def fails(self, *_):
        made.append(self)
        raise failing.pop(0)

    with monkeypatch.context() as patched:
        patched.setattr("distlab.exchange.instructor.Collect._collected", fails)
        with pytest.raises(KeyboardInterrupt):
            do("Collect", update=True)
    assert not failing and made[0].failed == []


def test_a_time_that_somebody_has_written_by_hand_does_not_keep_the_others(person, released):
    handed_in(person, "ada"), handed_in(person, "ben", "44")
    home, do = person("lecturer")
    place = home / "submitted" / "ada" / LAB
    place.mkdir(parents=True, exist_ok=True)
    (place / "timestamp.txt").write_text("sent by mail")
    do("Collect", update=True)
    assert "42" in (place / "a.ipynb").read_text()
    assert "44" in (home / "submitted" / "ben" / LAB / "a.ipynb").read_text()


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK])
def test_a_home_without_locks_keeps_nobody_from_fetching_and_handing_in(
    person, released, monkeypatch, number
):
    """As a cluster's home folders often are."""

    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    home, do = person("ben")
    do("FetchAssignment")
    do("Submit")
    assert (home / LAB / "a.ipynb").exists()
    kept = Path(do.config.Exchange.cache, COURSE)
    assert len(list(kept.glob(f"ben+{LAB}+*"))) == 1


def test_handing_in_that_was_cut_off_after_the_exchange_had_it_is_not_done_twice(
    person, released, monkeypatch
):
    """The answer is lost with the program: whoever says Submit again has handed in once."""
    home, do = person("ben")
    if not (home / LAB).exists():
        do("FetchAssignment")
    before = len(do("List", cached=True)[0]["submissions"]) if do("List", cached=True) else 0
    (home / LAB / "a.ipynb").write_text('{"answer": "cut off"}')

    def killed(self, folder, made):
        raise ExchangeFailed("killed")

    with monkeypatch.context() as patch:
        patch.setattr("distlab.exchange.student.Submit._keep", killed)
        with pytest.raises(ExchangeError):
            do("Submit")
    do("Submit")
    assert len(do("List", cached=True)[0]["submissions"]) == before + 1
    do("Submit")  # the same once more, and meant so
    assert len(do("List", cached=True)[0]["submissions"]) == before + 2
