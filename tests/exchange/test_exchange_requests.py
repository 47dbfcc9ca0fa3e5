"""Requests for second looks: whose they are the Hub says; few, small, seen by those who teach."""

import pytest
from served import COURSE, TAKES, Hub, Service
from traitlets.config import Config

from distlab.checking.second_look import LARGEST
from distlab.exchange.client import ExchangeFailed
from distlab.exchange.limits import Limits
from distlab.exchange.names import Refused, request_parts
from distlab.exchange.store import Store

WHERE = f"second-looks/{COURSE}"
KEY = "1" * 32


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "exchange", Limits(looks=3), clock=lambda: 1_700_000_000.0)
    yield made
    made.close()


def test_a_request_is_as_large_as_distlab_ask_writes_it():
    assert Limits().look == LARGEST


def test_a_request_waits_until_the_grader_has_it(store):
    made = store.requests.add(COURSE, "ada", b"look", KEY)
    assert store.requests.waiting(COURSE) == [made] and not store.requests.waiting("other")
    assert store.requests.content(COURSE, made.name) == b"look"
    assert store.requests.content("other", made.name) is None
    for _ in range(2):  # the answer to the first may have been lost
        store.requests.remove(COURSE, made.name)
    assert not store.requests.waiting(COURSE) and store.requests.content(COURSE, made.name) is None


def test_a_request_that_is_sent_again_is_one_and_those_of_one_moment_keep_their_order(store):
    made = store.requests.add(COURSE, "ada", b"first", KEY)
    assert store.requests.add(COURSE, "ada", b"another", KEY) == made
    assert store.requests.content(COURSE, made.name) == b"first"
    later = [store.requests.add(COURSE, "ada", b"x", str(n) * 32) for n in (0, 9)]
    assert store.requests.waiting(COURSE) == [made, *later]  # though the clock stands still


def test_few_of_a_student_wait_and_that_keeps_nobody_else_from_asking(store):
    first, _, _ = (store.requests.add(COURSE, "ada", b"x", str(n) * 32) for n in range(3))
    with pytest.raises(Refused, match="3 requests of yours wait already"):
        store.requests.add(COURSE, "ada", b"x", "3" * 32)
    for who, course in (("ben", COURSE), ("ada", "other"), ("ada+01-lab", COURSE)):
        store.requests.add(course, who, b"x", KEY)
    store.requests.remove(COURSE, first.name)
    store.requests.add(COURSE, "ada", b"x", "3" * 32)


def test_what_a_killed_service_had_begun_is_no_request(tmp_path):
    store = Store(tmp_path)
    made = store.requests.add(COURSE, "ada", b"whole", KEY)
    begun = tmp_path / COURSE / "second-looks" / f".{'2' * 32}"
    begun.write_bytes(b"ha")
    assert store.requests.waiting(COURSE) == [made]
    store.close()
    again = Store(tmp_path)
    assert again.requests.waiting(COURSE) == [made] and not begun.exists()
    again.close()


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "x", f"ada+when+{KEY}", f"../ada+2026-11-02 10:00:00.000000 UTC+{KEY}",
     f"+2026-11-02 10:00:00.000000 UTC+{KEY}", "ada+2026-11-02 10:00:00.000000 UTC+../x",
     f"a/b+2026-11-02 10:00:00.000000 UTC+{KEY}", f"ada+2026-11-02 10:00:00.000000 UTC+{KEY}\n"],
)  # fmt: skip
def test_only_names_that_the_exchange_gave_are_requests(store, name):
    assert request_parts(name) is None
    assert store.requests.content(COURSE, name) is None
    store.requests.remove(COURSE, name)


@pytest.fixture(scope="module")
def hub():
    pytest.importorskip("jupyterhub", reason="the Hub is not installed: pip install jupyterhub")
    with Hub() as made:
        yield made


@pytest.fixture(scope="module")
def service(hub, tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    with Service(hub, folder / "exchange", ["--reserve=0", "--looks=5"]) as made:
        yield made


@pytest.fixture
def empty(service):
    """The service, with no request waiting."""
    with service.client("lecturer") as client:
        for one in client.second_looks(COURSE):
            client.take_second_look(COURSE, one["name"])
    return service


def waiting(service, who="grading"):
    with service.client(who) as client:
        return [
            (one["student"], client.second_look(COURSE, one["name"]))
            for one in client.second_looks(COURSE)
        ]


@pytest.mark.slow
def test_those_who_teach_see_what_was_asked_and_by_whom(empty):
    for who, said in (("ada", "Lök ‮ here"), ("ben", '{"student": "cleo"}')):
        with empty.client(who) as client:
            client.ask_second_look(COURSE, said, KEY)
            client.ask_second_look(COURSE, said, KEY)
    both = [("ada", "Lök ‮ here"), ("ben", '{"student": "cleo"}')]
    assert waiting(empty) == waiting(empty, "lecturer") == both
    empty.kill()
    empty.start()
    assert waiting(empty) == both


@pytest.mark.slow
def test_students_see_and_take_away_none_not_even_their_own(empty):
    with empty.client("ada") as client:
        client.ask_second_look(COURSE, "Look", KEY)
    with empty.client("lecturer") as client:
        (one,) = client.second_looks(COURSE)
    for who, status in (("ada", 403), ("ben", 403), ("stranger", 404)):
        for method, path in (("GET", WHERE), ("GET", f"{WHERE}/{one['name']}"),
                             ("DELETE", f"{WHERE}/{one['name']}")):  # fmt: skip
            assert empty.ask(who, method, path).status_code == status
    assert waiting(empty) == [("ada", "Look")]


@pytest.mark.slow
def test_another_course_takes_none(empty):
    asked = {"content": "Look", "key": KEY}
    for who, path in (("stranger", WHERE), ("ada", "second-looks/other"),
                      ("ada", "second-looks/none"), ("ada", "second-looks/.begun"),
                      ("ada", "second-looks/..%2Fother")):  # fmt: skip
        answer = empty.ask(who, "POST", path, json=asked)
        assert answer.status_code == 404, path
    assert empty.ask("stranger", "POST", "second-looks/other", json=asked).is_success
    assert empty.ask("lecturer", "GET", "second-looks/other").status_code == 404
    assert empty.ask("grading", "GET", "second-looks/other").status_code == 404
    assert waiting(empty) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [{}, {"content": "x"}, {"key": KEY}, {"content": 1, "key": KEY}, {"content": "x", "key": 1},
     {"content": "x", "key": "../x"}, {"content": "x", "key": "A" * 32},
     {"content": "x" * 8001, "key": KEY}, {"content": "\U0001f600" * 2001, "key": KEY},
     {"content": "x" * 70_000, "key": KEY}, []],
)  # fmt: skip
def test_what_is_no_request_is_refused_and_leaves_nothing(empty, asked):
    answer = empty.ask("ada", "POST", WHERE, json=asked)
    assert answer.status_code == 400 and "\n" not in answer.json()["message"]
    assert waiting(empty) == []


@pytest.mark.slow
def test_text_that_is_none_breaks_nothing(empty):
    body = b'{"content": "\\ud800\\u0000", "key": "' + KEY.encode() + b'"}'
    assert empty.ask("ada", "POST", WHERE, content=body).is_success
    ((who, said),) = waiting(empty)
    assert who == "ada" and "\0" in said


@pytest.mark.slow
def test_who_asks_too_much_is_told_so_and_others_still_ask(empty):
    answers = [
        empty.ask("cleo", "POST", WHERE, json={"content": "x", "key": f"{n:032x}"})
        for n in range(7)
    ]
    assert [answer.status_code for answer in answers] == [200] * 5 + [400] * 2
    assert "wait already" in answers[-1].json()["message"]
    assert empty.ask("ada", "POST", WHERE, json={"content": "x", "key": KEY}).is_success


@pytest.mark.slow
def test_distlab_ask_finds_its_way(empty, hub, monkeypatch, tmp_path):
    """By the class that nbgrader's configuration names for submitting."""
    pytest.importorskip("nbgrader")
    from distlab.exchange.student import Submit

    hub.add("dora", [*TAKES, "nbgrader-second"])
    config = Config()
    config.HTTPExchange.url, config.HTTPExchange.patience = empty.url, 5.0
    config.Exchange.cache = str(tmp_path)
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "of-dora")
    Submit.second_looks(config, COURSE).hand_over(b"named")
    with pytest.raises(ExchangeFailed, match="no course of yours has handed anything out"):
        Submit.second_looks(config, "").hand_over(b"x")
    with pytest.raises(ExchangeFailed, match="you take no course 'other'") as failed:
        Submit.second_looks(config, "other").hand_over(b"x")
    assert failed.value.exit_status == 2
    for name in (COURSE, "second"):
        (empty.root / name / "outbound" / "01-lab").mkdir(parents=True)
        if name == COURSE:
            Submit.second_looks(config, "").hand_over(b"the only one")
    with pytest.raises(ExchangeFailed, match=f"with one of {COURSE}, second"):
        Submit.second_looks(config, "").hand_over(b"x")
    config.CourseDirectory.course_id = COURSE
    Submit.second_looks(config, "").hand_over(b"configured")
    assert waiting(empty) == [("dora", "named"), ("dora", "the only one"), ("dora", "configured")]
    monkeypatch.delenv("JUPYTERHUB_API_TOKEN")
    with pytest.raises(ExchangeFailed, match="use a server of the Hub"):
        Submit.second_looks(config, "").hand_over(b"x")


@pytest.mark.slow
def test_the_log_has_no_traceback(service):
    assert "Traceback" not in service.log
