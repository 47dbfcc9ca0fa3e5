"""What the service answers to whom: one's own alone, whatever is asked, within limits."""

import asyncio
import contextlib
import dataclasses
import json
import re
import socket
import threading
import time
from types import SimpleNamespace

import free_ports
import pytest
from served import COURSE, LAB, PREFIX, TAKES, Hub, Service, folder_of

from distlab.exchange import manifest as manifests
from distlab.exchange.client import ExchangeFailed
from distlab.exchange.limits import Limits

pytest.importorskip("jupyterhub", reason="the Hub is not installed: pip install jupyterhub")
handlers = pytest.importorskip("distlab.exchange.handlers")
pytestmark = pytest.mark.slow  # a service, and the Hub's library, are started


@pytest.fixture(scope="module")
def hub():
    with Hub() as made:
        yield made


@pytest.fixture(scope="module")
def service(hub, tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    with Service(hub, folder / "exchange", ["--reserve=0"]) as made:
        lab = folder_of(folder / "lab", a_ipynb="{}", data="1234")
        with made.client("lecturer") as client:
            client.release(COURSE, LAB, lab, manifests.of_folder(lab))
        yield made


@pytest.fixture
def hand_in(service, tmp_path):
    """`hand_in(who, key)`: what was told of a submission, with a content that nobody else has."""

    def make(who, key="1" * 32):
        folder = folder_of(tmp_path / who, a_ipynb=json.dumps({"by": who, "key": key}))
        with service.client(who) as client:
            return client.hand_in(COURSE, LAB, folder, manifests.of_folder(folder), key)

    return make


def feedback(service, tmp_path, made):
    """Release a page on a submission; its digest."""
    from distlab.exchange.store import page_of

    page = page_of(made["secret"], "a")
    folder = folder_of(tmp_path / "pages", **{page: f"for {made['student']}"})
    files = manifests.of_folder(folder)
    with service.client("lecturer") as client:
        client.release_feedback(COURSE, folder, files)
    return files.files[0].sha256


def eventually(is_so, seconds=30.0):
    """Wait until something is so that a service does on its own."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def said(answer):
    """All that tells one answer from another."""
    kept = {k: v for k, v in answer.headers.items() if k not in ("date", "content-length")}
    return answer.status_code, answer.text, kept


def test_another_s_submission_and_one_that_is_not_there_are_answered_alike(
    service, hand_in, tmp_path
):
    made = hand_in("ada")
    digest = feedback(service, tmp_path, made)
    there, not_there = made["name"], made["name"][:-1] + "2"
    content = manifests.of_folder(tmp_path / "ada").files[0].sha256
    for who in ("ben", "ada+01-lab", "stranger"):
        for rest in ("", f"/{content}", f"/feedback/{digest}"):
            asked = [
                service.ask(who, "GET", f"submissions/{COURSE}/{name}{rest}")
                for name in (there, not_there)
            ]
            assert said(asked[0]) == said(asked[1]) and asked[0].status_code == 404
    assert service.ask("ada", "GET", f"submissions/{COURSE}/{there}/{content}").is_success
    page = service.ask("ada", "GET", f"submissions/{COURSE}/{there}/feedback/{digest}")
    assert page.text == "for ada"


def test_nobody_gets_feedback_by_a_digest_on_a_submission_of_their_own(service, hand_in, tmp_path):
    digest = feedback(service, tmp_path, hand_in("ada"))
    mine = hand_in("ben")
    path = f"submissions/{COURSE}/{mine['name']}/feedback/{digest}"
    assert service.ask("ben", "GET", path).status_code == 404
    assert service.ask("lecturer", "GET", path.replace(mine["name"], hand_in("ada")["name"])
                       ).status_code == 404  # fmt: skip


def test_the_list_has_ones_own(service, hand_in):
    hand_in("ada"), hand_in("ben")
    for who in ("ada", "ben", "cleo"):
        listed = service.ask(who, "GET", "submissions").json()["submissions"]
        assert {one["student"] for one in listed} <= {who}
    assert service.ask("ada", "GET", f"submissions?course={COURSE}&of=all").status_code == 403
    everybody = service.ask("lecturer", "GET", f"submissions?course={COURSE}&of=all").json()
    assert {"ada", "ben"} <= {one["student"] for one in everybody["submissions"]}
    assert service.ask("grading", "GET", f"submissions?course={COURSE}&of=all").json() == everybody


def test_what_instructors_do_students_may_not(service):
    some = {"files": [{"path": "x", "size": 0, "sha256": manifests._EMPTY}]}
    for who in ("ada", "stranger"):
        status = 403 if who == "ada" else 404
        for method, path in (
            ("PUT", f"labs/{COURSE}/{LAB}"), ("DELETE", f"labs/{COURSE}/{LAB}"),
            ("PUT", f"feedback/{COURSE}"), ("PUT", f"labs/{COURSE}/other"),
        ):  # fmt: skip
            more = {"json": some} if method == "PUT" else {}
            assert service.ask(who, method, path, **more).status_code == status
    assert service.ask("lecturer", "PUT", "labs/other/x", json=some).status_code == 404


def test_a_course_that_is_not_ones_own_is_as_if_it_were_not(service):
    for path in ("labs/{}/01-lab", "submissions?course={}", "submissions/{}/a+b+c+d"):
        asked = [service.ask("stranger", "GET", path.format(one)) for one in (COURSE, "none")]
        assert said(asked[0]) == said(asked[1]) and asked[0].status_code == 404
    assert service.ask("stranger", "GET", "labs").json() == {"labs": []}


@pytest.mark.parametrize("header", ["", "token", "token x", "Bearer of-", "Basic b2YtYWRh",
                                    "token of-ada x", "of-ada", "token of-nobody"])  # fmt: skip
def test_a_forged_token_opens_nothing(service, header):
    for method, path in (("GET", "labs"), ("GET", f"labs/{COURSE}/{LAB}"), ("GET", "nowhere"),
                         ("PATCH", f"contents/{COURSE}/{'a' * 64}")):  # fmt: skip
        answer = service.ask("ada", method, path, headers={"Authorization": header})
        assert answer.status_code == 401 and "token" in answer.json()["message"]


def test_a_token_in_the_address_or_a_cookie_is_none(service):
    bare = {"Authorization": ""}
    assert service.ask("ada", "GET", "labs?token=of-ada", headers=bare).status_code == 401
    cookie = {**bare, "Cookie": "jupyterhub-hub-login=of-ada"}
    assert service.ask("ada", "GET", "labs", headers=cookie).status_code == 401


def test_a_token_for_something_else_is_not_for_the_exchange(service, hub):
    hub.add("dora", TAKES, scopes=("access:services!service=other", "read:users"))
    assert service.ask("dora", "GET", "labs").status_code == 401


def test_a_token_that_has_ended_is_refused_once_the_hub_is_asked_again(service, hub, monkeypatch):
    from distlab.exchange import people

    assert people.KNOWN <= 60  # seconds for which the Hub's answer is believed
    hub.models["of-eve"] = None
    assert service.ask("eve", "GET", "labs").status_code == 401


def test_while_the_hub_does_not_answer_nobody_is_let_in_and_all_are_told(service, hub):
    hub.add("fred", TAKES)
    hub.answers = False
    try:
        answer = service.ask("fred", "GET", "labs")
        assert answer.status_code == 503 and "try again" in answer.json()["message"]
    finally:
        hub.answers = True
    assert service.ask("fred", "GET", "labs").is_success


@pytest.mark.parametrize(
    "name",
    ["../../../etc/cron.d/x", "/etc/passwd", "a/../../b", "a\\b", "a\0b", "a\u202eb", "nul",
     "timestamp.txt", "submission_secret.txt", "timestamp.txt/a", "submission_secret.txt/a/b",
     "x" * 300],
)  # fmt: skip
def test_a_tampered_name_is_one_sentence_and_writes_nothing(service, name):
    before = sorted(service.root.rglob("*"))
    content = {"key": "1" * 32, "files": [{"path": name, "size": 0, "sha256": manifests._EMPTY}]}
    answer = service.ask("ada", "POST", f"hand-in/{COURSE}/{LAB}", json=content)
    assert answer.status_code == 400 and "\n" not in answer.json()["message"]
    assert sorted(service.root.rglob("*")) == before


@pytest.mark.parametrize(
    "path",
    [f"labs/{COURSE}/..%2F..%2Fx", f"labs/..%2F{COURSE}/{LAB}", f"labs/{COURSE}/.begun",
     f"submissions/{COURSE}/ada+..%2F..+x+y", f"submissions/{COURSE}/ada+%2e%2e+x+y%00",
     f"contents/{COURSE}/..%2F..%2Fx", f"labs/{COURSE}/{LAB}/..%2Fa", f"labs/.begun/{COURSE}"],
)  # fmt: skip
def test_a_tampered_address_leads_nowhere(service, path):
    assert service.ask("ada", "GET", path).status_code in (400, 404, 405)
    assert service.ask("lecturer", "DELETE", path).status_code in (400, 404, 405)
    assert service.ask("ada", "GET", "labs").json()["labs"][0]["lab"] == LAB


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000,
                                  b'{"files": 1}', b'{"files": [[]]}'])  # fmt: skip
def test_a_request_that_is_none_is_refused(service, body):
    answer = service.ask("ada", "POST", f"hand-in/{COURSE}/{LAB}", content=body)
    assert answer.status_code == 400 and answer.json()["message"]


def test_a_request_that_is_too_large_or_of_no_length_is_refused(service):
    path = f"hand-in/{COURSE}/{LAB}"
    assert service.ask("ada", "POST", path, content=b" " * 3_000_000).status_code == 400
    chunked = service.ask("ada", "POST", path, content=iter([b"{}"]))
    assert chunked.status_code == 400 and "length" in chunked.json()["message"]
    content = f"contents/{COURSE}/{'a' * 64}"
    for offset in ("", "-1", "x", "1e3"):
        answer = service.ask("ada", "PATCH", content, headers={"Upload-Offset": offset})
        assert answer.status_code == 400
    assert service.ask("ada", "PATCH", content, headers={"Upload-Offset": "7"}).json()[
        "offset"
    ] == 0  # fmt: skip


def test_the_same_upload_twice_at_once_is_one(service, tmp_path):
    folder = folder_of(tmp_path / "cleo", a_ipynb="{}", large=b"x" * 20_000_000)
    files = manifests.of_folder(folder)
    made, problems = [], []

    def hand_in():
        try:
            with service.client("cleo") as client:
                made.append(client.hand_in(COURSE, LAB, folder, files, "7" * 32)["name"])
        except ExchangeFailed as error:
            problems.append(error)

    threads = [threading.Thread(target=hand_in) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not problems and len(made) == 3 and len(set(made)) == 1
    found = service.root / COURSE / "inbound" / made[0]
    assert manifests.sha256(found / "large") == manifests.sha256(folder / "large")


def test_a_write_that_is_still_under_way_changes_nothing_that_was_handed_in(service, tmp_path):
    """A connection that has stopped in mid-body must not add to the file later."""
    folder = folder_of(tmp_path / "ben", a_ipynb="x" * 1000)
    files = manifests.of_folder(folder)
    path = f"{PREFIX}api/contents/{COURSE}/{files.files[0].sha256}"
    with contextlib.closing(socket.create_connection(("127.0.0.1", service.port))) as stalled:
        head = (f"PATCH {path} HTTP/1.1\r\nHost: x\r\nAuthorization: token of-ben\r\n"
                "Upload-Offset: 0\r\nContent-Length: 2000\r\n\r\n")  # fmt: skip
        stalled.sendall(head.encode() + b"x" * 1000)
        begun = service.root / ".begun" / COURSE / "ben" / "contents" / files.files[0].sha256
        while not begun.exists() or begun.stat().st_size < 1000:
            pass
        with service.client("ben") as client:
            made = client.hand_in(COURSE, LAB, folder, files, "8" * 32)
        stalled.sendall(b"y" * 1000)
        stalled.recv(4096)
    kept = service.root / COURSE / "inbound" / made["name"] / "a.ipynb"
    assert kept.read_text() == "x" * 1000


def test_a_download_goes_on_at_the_byte_that_is_named(service):
    file = next(f for f in manifests.parse(
        service.ask("ada", "GET", f"labs/{COURSE}/{LAB}").json()["files"], service_limits()
    ).files if f.path == "data")  # fmt: skip
    path = f"labs/{COURSE}/{LAB}/{file.sha256}"
    answer = service.ask("ada", "GET", path, headers={"Range": "bytes=2-"})
    assert (answer.status_code, answer.text) == (206, "34")
    assert service.ask("ada", "GET", path, headers={"Range": "bytes=9-"}).status_code == 400
    assert service.ask("ada", "GET", path, headers={"Range": "bytes=x"}).text == "1234"


def service_limits():
    from distlab.exchange.limits import Limits

    return Limits()


def test_pages_do_nothing_in_a_browser(service, hand_in, tmp_path):
    made = hand_in("ada")
    digest = feedback(service, tmp_path, made)
    headers = service.ask(
        "ada", "GET", f"submissions/{COURSE}/{made['name']}/feedback/{digest}"
    ).headers
    assert headers["Content-Type"] == "application/octet-stream"
    assert headers["X-Content-Type-Options"] == "nosniff" and "Server" not in headers


def test_who_asks_too_often_is_told_to_wait_and_nobody_else_is(hub, tmp_path):
    with Service(hub, tmp_path / "exchange", ["--burst=5", "--rate=0.01"]) as service:
        answers = [service.ask("ada", "GET", "labs") for _ in range(7)]
        assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 2
        assert int(answers[-1].headers["Retry-After"]) >= 1
        assert service.ask("ben", "GET", "labs").is_success
        assert all(service.ask("lecturer", "GET", "labs").is_success for _ in range(9))
        assert "Traceback" not in service.log


def test_connections_that_say_nothing_keep_nobody_from_asking(hub, tmp_path):
    few = ["sh", "-c", 'ulimit -n 64 && exec "$@"', "sh"]  # descriptors of the service
    with Service(hub, tmp_path / "exchange", ["--reserve=0"], few) as service:
        head = (
            f"PATCH {PREFIX}api/contents/{COURSE}/{'a' * 64} HTTP/1.1\r\nHost: x\r\n"
            "Authorization: token of-ada\r\nUpload-Offset: 0\r\nContent-Length: 8\r\n\r\nhalf"
        ).encode()
        begun = (service.root / ".begun" / COURSE / "ada" / "contents" / ("a" * 64)).exists
        with contextlib.ExitStack() as stack:

            def connected():
                made = socket.create_connection(("127.0.0.1", service.port))
                return stack.enter_context(contextlib.closing(made))

            upload = connected()
            upload.sendall(head)
            eventually(begun)
            for number in range(200):
                idle = connected()
                if number % 2:  # a request of nobody's whose body never comes
                    idle.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
            assert service.ask("ben", "GET", "labs").is_success
            upload.sendall(b"half")
            upload.settimeout(30)
            assert upload.recv(1000).startswith(b"HTTP/1.1 200")
        assert "Traceback" not in service.log


def test_a_request_whose_connection_is_lost_ends(tmp_path):
    """Its body, as far as it came, would stay in memory otherwise."""
    from distlab.exchange import service
    from distlab.exchange.people import Person
    from distlab.exchange.state import State
    from distlab.exchange.store import Store

    async def who(_):
        return Person("ada", frozenset([COURSE]))

    async def cut_off(state):
        running = asyncio.all_tasks()
        (port,) = free_ports.some(1)
        server = service.serve(state, PREFIX, "127.0.0.1", port)
        _, lost = await asyncio.open_connection("127.0.0.1", port)
        lost.write(
            f"PATCH {PREFIX}api/contents/{COURSE}/{'a' * 64} HTTP/1.1\r\nHost: x\r\n"
            "Upload-Offset: 0\r\nContent-Length: 8\r\n\r\nhalf".encode()
        )
        while not state.writers:
            await asyncio.sleep(0)
        lost.close()
        while state.writers:
            await asyncio.sleep(0)
        server.stop()
        assert not state.active and not state.answered
        while asyncio.all_tasks() != running:
            await asyncio.sleep(0)

    asyncio.run(asyncio.wait_for(cut_off(State(Store(tmp_path), SimpleNamespace(who=who))), 30))


def test_large_requests_count_as_several_and_contents_do_not(hub, tmp_path):
    options = ["--burst=50", "--rate=0.01", "--reserve=0"]
    with Service(hub, tmp_path / "exchange", options) as service:
        content = f"contents/{COURSE}/{'a' * 64}"
        for offset in (0, 1_000_000):
            headers = {"Upload-Offset": str(offset)}
            piece = service.ask("ada", "PATCH", content, content=b"x" * 1_000_000, headers=headers)
            assert piece.is_success
        path = f"hand-in/{COURSE}/{LAB}"
        answers = [service.ask("ada", "POST", path, content=b" " * 500_000) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [400, 400, 429]
        assert service.ask("ben", "GET", "labs").is_success


def test_a_list_of_files_is_read_while_others_are_answered(monkeypatch):
    """Two megabytes of names that are long once they are normalized take more than a second."""
    threads = []
    monkeypatch.setattr(
        handlers.manifests, "parse", lambda *words: threads.append(threading.current_thread())
    )
    request = handlers.HandIn.__new__(handlers.HandIn)
    request._body, request.state = bytearray(b"{}"), SimpleNamespace(limits=None)
    assert asyncio.run(request.listed()) == ({}, None)
    assert threads and threads[0] is not threading.current_thread()


def test_the_log_has_no_traceback_and_no_token(service):
    assert "Traceback" not in service.log and "of-ada" not in service.log


def test_the_help_of_the_service_says_what_every_limit_is(capsys):
    from distlab.exchange import service

    with pytest.raises(SystemExit):
        service.main(["--help"])
    told = capsys.readouterr().out.partition("options:")[2]
    said = re.findall(r"^  --[\w-]+ N +(\S.*)", told, re.M)
    assert len(said) + told.count(" N\n") == len(dataclasses.fields(Limits))
    assert not [one for one in said if one.startswith("(default")]
