"""Scores that go to a platform on loopback, which checks what a real one checks."""

import contextlib
import datetime
import errno
import json
import os
import sqlite3
import subprocess
import sys
import time
from fractions import Fraction

import pytest

from distlab import cli
from grader import coursedir
from grader.export.points import Cell, Result
from grader.export.sheet import Unusable
from grader.policy import policy

pytest.importorskip("authlib", reason="the extra `lti` is not installed")

import book
from lti_platform import LINE_ITEMS, MEMBERS, TOKEN, Platform, learner, new_key, running, slowly

from grader.export import commands, lti, sent
from grader.export import platform as ours
from grader.export.platform import PlatformFailed
from grader.export.sent import Sent

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own
LAB, OTHER = "01-message-passing", "02-toy-model"


@pytest.fixture(scope="module")
def key():
    return new_key()


@pytest.fixture
def platform(key, monkeypatch):
    monkeypatch.setattr(ours, "PAUSES", (0.0, 0.0))
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    with running(Platform(key)) as one:
        yield one


@pytest.fixture
def send(platform, key, tmp_path):
    """`send(results)`: what is said, and whether all is there."""

    def export(results, named=(), keys=(), roster=None, dry=False, **changes):
        fields = {
            "client_id": "tool-1", "token_url": platform.url + TOKEN, "kid": "k1",
            "line_items": platform.url + LINE_ITEMS, "memberships": platform.url + MEMBERS,
            "key": key.as_pem(private=True).decode(), **changes,
        }  # fmt: skip
        labs = sorted({one.lab for one in results})
        return lti.export(
            lti.Settings(**fields), results, labs, dict(named), keys, roster, tmp_path / "lti.db",
            dry,
        )  # fmt: skip

    return export


def result(student, points="21.6", lab=LAB, penalty="0", comment="", waits=False):
    cells = [Cell("test_relay", Fraction(points), Fraction(28), "automatic", waits, comment)]
    return Result(student, lab, None, cells, Fraction(penalty))


def test_scores_arrive_with_points_penalty_and_comments(platform, send):
    some = [result("ada", "24", penalty="2.4", comment="Good."), result("ben", waits=True)]
    said, whole = send(some)
    assert whole and said == [
        f"{LAB}: a line item with 28 points is made.", "2 scores sent, 0 were there already."
    ]  # fmt: skip
    taken = platform.taken()
    ada, ben = taken[LAB, "u-ada"], taken[LAB, "u-ben"]
    assert (ada["scoreGiven"], ada["scoreMaximum"]) == (21.6, 28.0)
    assert ada["comment"] == "24.00 of 28.00 points, 2.40 taken off for lateness.\nGood."
    assert (ada["activityProgress"], ada["gradingProgress"]) == ("Completed", "FullyGraded")
    assert ben["gradingProgress"] == "PendingManual"
    assert datetime.datetime.fromisoformat(ada["timestamp"].replace("Z", "+00:00")).tzinfo


def test_what_is_there_is_not_sent_again_and_what_has_changed_is(platform, send):
    send([result("ada"), result("ben")])
    said, _ = send([result("ada"), result("ben", "22")])
    assert said == ["1 scores sent, 1 were there already."] and len(platform.scores) == 3
    assert platform.taken()[LAB, "u-ben"]["scoreGiven"] == 22.0
    assert len(platform.items) == 1


def test_a_clock_that_is_set_back_does_not_stop_scores(platform, send, tmp_path):
    send([result("ada")])
    with contextlib.closing(sqlite3.connect(tmp_path / "lti.db")) as database, database:
        (item, _), = {(item, 0) for item, _ in platform.scores}  # fmt: skip
        later = "2999-01-01T00:00:00.000+00:00"
        database.execute("UPDATE sent SET time = ?", (later,))
    platform.scores[0] = (item, {**platform.scores[0][1], "timestamp": later})
    assert send([result("ada", "3")])[1]
    assert platform.taken()[LAB, "u-ada"]["timestamp"] == "2999-01-01T00:00:00.001Z"


def test_names_that_are_not_matched_are_listed(platform, send):
    platform.members.append(learner("u-dan", "dan@example.org", name="Dan\x1b[2J"))
    platform.members.append({**learner("u-eve", "eve@example.org"), "status": "Inactive"})
    said, whole = send([result(name) for name in ("ada", "cleo", "eve", "zoe")])
    assert not whole and set(platform.taken()) == {(LAB, "u-ada")}
    assert "Graded, but not in the platform's course: cleo, eve, zoe." in said
    assert any("nothing graded is theirs" in one and "\x1b" not in one for one in said)


def test_two_members_of_one_name_have_nothing(platform, send):
    platform.members.append(learner("u-ada2", "ada@other.org"))
    said, whole = send([result("ada")])
    assert not whole and not platform.scores and "ada could be 2 members." in said


def test_a_number_of_the_platforms_own_is_nobodys_name(platform, send):
    platform.members.append(learner(1234, "dan@example.org"))
    assert not send([result("1234")])[1] and not platform.scores
    assert send([result("1234")], keys=["user_id"])[1]


def test_names_come_from_a_file_where_the_platform_tells_none(platform, send, tmp_path):
    roster = tmp_path / "names.csv"
    roster.write_text("student,user_id\nada,u-ben\n,u-x\n")
    assert send([result("ada")], roster=roster, memberships="")[1]
    assert set(platform.taken()) == {(LAB, "u-ben")} and not platform.count(MEMBERS)
    roster.write_text("student,user_id\nada,u-ben\nben,u-ben\n")
    with pytest.raises(Unusable, match="twice"):
        send([result("ada")], roster=roster)
    with pytest.raises(Unusable, match="who is who"):
        send([result("ada")], memberships="")


def test_line_items_are_found_by_our_mark_by_label_or_by_name(platform, send):
    items = [f"{platform.url}{LINE_ITEMS}/{at}/lineitem{platform.query}" for at in range(3)]
    platform.items = [
        {"id": items[0], "label": "Lab one", "scoreMaximum": 10},
        {"id": items[1], "label": LAB.upper(), "scoreMaximum": 28},
        {"id": items[2], "label": "Renamed", "resourceId": LAB, "scoreMaximum": 28},
    ]
    for named, item in (({}, 2), ({LAB: "lab ONE"}, 0), ({LAB: items[1]}, 1)):
        said, _ = send([result("ada", f"{item}")], named=named)
        assert platform.scores[-1][0] == items[item]
        assert any("scales" in one for one in said) == (item == 0)
    with pytest.raises(Unusable, match="there are Lab one"):
        send([result("ada")], named={LAB: "nothing"})
    with pytest.raises(Unusable, match="are one line item"):
        send([result("ada"), result("ada", lab=OTHER)], named={OTHER: "Renamed"})
    platform.items.append({**platform.items[2], "id": items[2] + "&x"})
    with pytest.raises(Unusable, match="could be"):
        send([result("ada")])


def test_a_dry_run_says_what_would_be_sent_and_sends_nothing(platform, send):
    said, whole = send([result("ada")], dry=True)
    assert whole and not platform.scores and not platform.items
    assert said == [
        "In the platform's course, but nothing graded is theirs: u-ben.",
        f"{LAB} has no line item yet: one with 28 points would be made.",
        f"ada (u-ada), {LAB}: 21.6 of 28, FullyGraded",
        "1 scores would be sent, 0 were there already.",
    ]


def test_killed_between_two_scores_it_goes_on(platform, send, monkeypatch):
    def killed(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Sent, "note", killed)  # the platform has it, and we do not know
        with pytest.raises(KeyboardInterrupt):
            send([result("ada"), result("ben")])
    assert len(platform.scores) == 1
    said, whole = send([result("ada"), result("ben")])
    assert whole and said == ["2 scores sent, 0 were there already."]  # the first once more, later
    assert {key: one["scoreGiven"] for key, one in platform.taken().items()} == {
        (LAB, "u-ada"): 21.6, (LAB, "u-ben"): 21.6
    }  # fmt: skip
    assert len(platform.items) == 1


def test_who_sends_while_another_sends_is_told_so_and_sends_nothing(platform, send, tmp_path):
    with (
        Sent.at(tmp_path / "lti.db"),
        pytest.raises(Unusable, match="somebody else sends"),
    ):
        send([result("ada", "3")])  # which were read while the other's were newer, perhaps
    assert not platform.requests
    assert send([result("ada")])[1]


@pytest.mark.parametrize(
    ("number", "said"), [(errno.ENOLCK, ""), (errno.ENOSYS, ""), (errno.EIO, "cannot be used")]
)
def test_a_file_system_without_locks_keeps_nobody_from_sending(
    platform, send, monkeypatch, number, said
):
    def refuse(file, operation):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(sent.fcntl, "flock", refuse)
    with pytest.raises(Unusable, match=said) if said else contextlib.nullcontext():
        assert send([result("ada")])[1]
    assert bool(platform.scores) == (not said)


def test_one_who_is_refused_does_not_stop_the_others(platform, send, tmp_path):
    roster = tmp_path / "names.csv"
    roster.write_text("student,user_id\nada,u-gone\nben,u-ben\n")
    said, whole = send([result("ada"), result("ben")], roster=roster)
    assert not whole and set(platform.taken()) == {(LAB, "u-ben")}
    assert any(one.startswith("ada (u-gone)") and "404" in one for one in said)


def test_where_all_are_refused_the_rest_is_not_tried(platform, send, tmp_path):
    names = [f"s{number}" for number in range(20)]
    (tmp_path / "names.csv").write_text(
        "student,user_id\n" + "".join(f"{name},x-{name}\n" for name in names)
    )
    said, whole = send([result(name) for name in names], roster=tmp_path / "names.csv")
    assert not whole and said[-1] == "None was taken so far: the others were not tried."
    assert platform.count(f"{LINE_ITEMS}/") == lti.MOST_REFUSED


def test_a_token_that_expires_early_is_asked_for_again(platform, send):
    def expire(request):
        platform.tokens.clear()
        del platform.answers[LINE_ITEMS]

    platform.answers[LINE_ITEMS] = expire
    assert send([result("ada")])[1] and platform.count(TOKEN) == 2  # each JWT once


def test_a_platform_that_stumbles_is_asked_again(platform, send):
    left = [503, 500]
    platform.answers[MEMBERS] = lambda request: (left.pop(), b"") if left else None
    assert send([result("ada")])[1]


def test_a_platform_that_only_stumbles_has_refused_nobody(platform, send):
    platform.answers[f"{LINE_ITEMS}/0/lineitem/scores"] = lambda request: (503, b"")
    with pytest.raises(PlatformFailed, match="503 again and again"):
        send([result("ada"), result("ben")])


WRONG = {
    "401": lambda request: (401, {"error": "invalid_client"}),
    "403": lambda request: (403, b"<html>"),
    "404": lambda request: (404, b"\xff\x00"),
    "500": lambda request: (500, b"oops \x1b[2J"),
    "302": lambda request: (302, b"", {"Location": "http://127.0.0.1:1/"}),
    "html": lambda request: (200, b"<html>login</html>"),
    "other json": lambda request: (200, 3),
    "deep": lambda request: (200, b"[" * 200_000),
    "null": lambda request: (200, b"null"),
    "list of wrong": lambda request: (200, [{"id": 3}, None]),
    "members of wrong": lambda request: (200, {"members": [3]}),
    "token of wrong": lambda request: (200, {"access_token": 3}),
    "too much": lambda request: (200, b" " * 2_000_000),
    "hangs up": lambda request: (),
    "drips": slowly(30),
}


@pytest.mark.slow  # each is soon over, and there are many
@pytest.mark.parametrize("where", [TOKEN, MEMBERS, LINE_ITEMS])
@pytest.mark.parametrize("how", WRONG)
def test_a_platform_that_does_anything_ends_in_one_sentence_in_time(
    platform, send, monkeypatch, where, how
):
    monkeypatch.setattr(ours, "SECONDS", 0.4)
    monkeypatch.setattr(ours, "LARGEST", 1_000_000)
    platform.answers[where] = WRONG[how]
    begin = time.monotonic()
    with pytest.raises(PlatformFailed) as failed:
        send([result("ada")])
    assert time.monotonic() - begin < 20
    said = str(failed.value)
    assert said.startswith("127.0.0.1/") and "\n" not in said and "\x1b" not in said
    assert ": " in said and len(said) < 500 and not platform.scores


def test_a_list_without_an_end_ends(platform, send, monkeypatch):
    monkeypatch.setattr(ours, "PAGES", 5)
    platform.answers[MEMBERS] = lambda request: (
        200, {"members": []}, {"Link": f'<{platform.url}{MEMBERS}?x>; rel="next"'}
    )  # fmt: skip
    with pytest.raises(PlatformFailed, match="more than 5 pages"):
        send([result("ada")])


def test_the_token_goes_to_no_other_host(platform, send):
    platform.answers[MEMBERS] = lambda request: (
        200, {"members": []}, {"Link": '<http://127.0.0.1:9/x>; rel="next"'}
    )  # fmt: skip
    with pytest.raises(PlatformFailed, match="leads to another host"):
        send([result("ada")])
    del platform.answers[MEMBERS]
    platform.items = [{"id": "http://127.0.0.1:9/item", "label": LAB}]
    with pytest.raises(PlatformFailed, match="not on the platform"):
        send([result("ada")])


def test_links_and_ids_that_are_no_addresses_end_in_a_sentence(platform, send):
    link = '<http://[::1/x>; rel="next"'
    platform.answers[MEMBERS] = lambda request: (200, {"members": []}, {"Link": link})
    with pytest.raises(PlatformFailed, match="leads to another host"):
        send([result("ada")])
    del platform.answers[MEMBERS]
    platform.items = [{"id": "http://[::1/item", "label": LAB}]
    with pytest.raises(PlatformFailed, match="not on the platform"):
        send([result("ada")])


@pytest.mark.parametrize("status", [300, 302, 304, 399])
def test_a_score_that_leads_nowhere_is_not_booked_as_sent(platform, send, status):
    send([result("ben")])
    item = platform.items[0]["id"].removeprefix(platform.url).partition("?")[0]
    platform.answers[f"POST {item}/scores"] = lambda request: (status, b"")
    with pytest.raises(PlatformFailed, match=f"leads elsewhere .{status}"):
        send([result("ada")])
    platform.answers.clear()
    assert send([result("ada")])[0][-1] == "1 scores sent, 0 were there already."


HTML, JSON = {"Content-Type": "text/html; charset=utf-8"}, {"Content-Type": "application/json"}
PAGE = b"\xef\xbb\xbf\r\n<!DOCTYPE html><title>Log in</title>"


def answering(platform, send, *said):
    """Platform whose answer to a score, by its status, body and headers, is this."""
    send([result("ben")])
    item = platform.items[0]["id"].removeprefix(platform.url).partition("?")[0]
    platform.answers[f"POST {item}/scores"] = lambda request: said


@pytest.mark.parametrize("status", [200, 201, 203])
@pytest.mark.parametrize("headers", [HTML, {"Content-Type": "application/xhtml+xml"}, JSON, {}])
def test_a_page_in_place_of_an_answer_is_not_booked_as_sent(platform, send, status, headers):
    """A session that has ended, a proxy before the platform, maintenance: all say 200."""
    answering(platform, send, status, PAGE, headers)
    with pytest.raises(PlatformFailed, match="answers with a web page") as failed:
        send([result("ada")])
    assert "Log in" not in str(failed.value) and "\n" not in str(failed.value)
    platform.answers.clear()
    assert send([result("ada")])[0][-1] == "1 scores sent, 0 were there already."
    assert platform.taken()[LAB, "u-ada"]["scoreGiven"] == 21.6


def test_text_that_is_called_a_page_is_one(platform, send):
    answering(platform, send, 200, "Log in".encode("utf-16"), HTML)
    with pytest.raises(PlatformFailed, match="answers with a web page"):
        send([result("ada")])


@pytest.mark.parametrize("why", [{"error": "no course"}, {"errors": [{"message": "no course"}]}])
def test_an_error_that_is_called_success_is_a_refusal(platform, send, why):
    answering(platform, send, 200, why, JSON)
    said, whole = send([result("ada")])
    assert not whole and any("with an error" in one and "no course" in one for one in said)
    platform.answers.clear()
    assert send([result("ada")])[1]


@pytest.mark.parametrize(
    ("status", "body", "headers"),
    [
        (200, {"resultUrl": "https://canvas.example/api/lti/courses/1/results/2"}, JSON),
        (200, b"", HTML), (200, b"\n", HTML), (201, b"", {}), (202, b"", {}), (204, b"", {}),
        (200, b"OK", {"Content-Type": "text/plain"}), (200, b"null", JSON), (200, b"[]", JSON),
        (200, {"error": None}, JSON), (200, b"[" * 10_000, JSON),
    ],
)  # fmt: skip
def test_whatever_else_says_that_it_went_well_is_believed(platform, send, status, body, headers):
    """The specification says nothing of the body, and platforms differ: a score that was taken and
    is called refused would be sent at each run, and the command fail each time.
    """
    answering(platform, send, status, body, headers)
    assert send([result("ada")])[1]
    assert send([result("ada")])[0][-1] == "0 scores sent, 1 were there already."


@pytest.mark.parametrize("charset", ["idna", "hex", "no-such", "punycode", "utf-16"])
def test_what_a_platform_says_of_its_own_words_is_not_believed(platform, send, charset):
    platform.answers[MEMBERS] = lambda request: (
        400, b"no such course", {"Content-Type": f"text/plain; charset={charset}"}
    )  # fmt: skip
    with pytest.raises(PlatformFailed, match="400 .no such course"):
        send([result("ada")])


def test_another_key_gets_no_token(platform, send):
    other = new_key().as_pem(private=True).decode()
    with pytest.raises(PlatformFailed, match="gives no token"):
        send([result("ada")], key=other)
    with pytest.raises(PlatformFailed, match="gives no token"):
        send([result("ada")], client_id="tool-2")


@pytest.fixture
def configured(tmp_path, key, platform, monkeypatch):
    """The file of the configuration; returned is what writes it anew."""
    path = tmp_path / "course" / "lti.yaml"
    path.parent.mkdir()
    monkeypatch.setenv(lti.VARIABLE, str(path))
    pem = path.parent / "key.pem"
    pem.write_bytes(key.as_pem(private=True))
    pem.chmod(0o600)

    def write(**changes):
        fields = {
            "client_id": "tool-1", "token_url": platform.url + TOKEN, "key": "key.pem",
            "line_items": platform.url + LINE_ITEMS, "memberships": platform.url + MEMBERS,
            "kid": "k1", **changes,
        }  # fmt: skip
        path.write_text(json.dumps({name: one for name, one in fields.items() if one is not None}))
        return path

    write()
    return write


def test_the_command_sends_what_the_gradebook_has(
    configured, platform, tmp_path, monkeypatch, capsys
):
    grades = tmp_path / "grades"
    grades.mkdir()
    book.filled(grades / "gradebook.db")
    monkeypatch.chdir(coursedir.ROOT)
    monkeypatch.setattr(commands, "GRADES", grades)
    monkeypatch.setattr(policy, "PATH", tmp_path / "policy.yaml")
    words = ["export", "--for", "lti", "--lab", LAB]
    assert cli.main([*words, "--dry-run"]) == 0
    assert "2 scores would be sent" in capsys.readouterr().out and not platform.scores
    assert cli.main(words) == 0
    assert platform.taken()[LAB, "u-ada"]["scoreGiven"] == 24.1
    assert cli.main(words) == 0
    assert "0 scores sent, 2 were there already" in capsys.readouterr().out
    platform.answers[TOKEN] = WRONG["401"]
    assert cli.main(words) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert cli.main(["export", "--for", "csv", "--dry-run"]) == 2
    assert cli.main([*words, "--out", "x"]) == 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"client_id": None}, "lacks client_id"),
        ({"secret": "x"}, "has secret: there are client_id"),
        ({"token_url": "http://example.org/token"}, "begins with https"),
        ({"line_items": "ftp://127.0.0.1/"}, "begins with https"),
        ({"memberships": "https://[::1"}, "begins with https"),
        ({"line_items": "http://127.0.0.1:x/"}, "begins with https"),
        ({"key": "none.pem"}, "cannot be read"),
        ({"key": str(coursedir.ROOT / "README.md")}, "lies in the course's folder"),
    ],
)
def test_what_is_configured_wrongly_is_said(configured, changes, said):
    configured(**changes)
    with pytest.raises(Unusable, match=said.replace("(", r"\(")):
        lti.settings()


@pytest.mark.parametrize("text", ["012345", "1_000", "10:30", "2026-13-45", "on", "1.0", "0x10"])
def test_a_client_s_id_is_taken_as_it_is_written(configured, text):
    path = configured(client_id="CLIENT", kid="KID", audience="")
    path.write_text(path.read_text().replace('"CLIENT"', text).replace('"KID"', text))
    found = lti.settings()
    assert (found.client_id, found.kid, found.audience) == (text, text, "")


def test_a_key_that_others_can_read_or_that_is_none_is_refused(configured):
    folder = configured().parent
    (folder / "key.pem").chmod(0o640)
    with pytest.raises(Unusable, match="others can read the key"):
        lti.settings()
    (folder / "key.pem").chmod(0o600)
    (folder / "key.pem").write_text("secret")
    with pytest.raises(Unusable, match="no private key in PEM"):
        lti.settings()
    (folder / "key.pem").write_text("-----BEGIN PRIVATE KEY-----\nAAAA\n")
    with pytest.raises(Unusable, match="no RSA key"):
        lti.settings()


@pytest.mark.parametrize("text", ["", "[]", "a: [", "\x00", "key"])
def test_a_file_that_is_none_is_said(configured, text):
    configured().write_text(text)
    with pytest.raises(Unusable, match="see docs/instructors.md"):
        lti.settings()


def test_without_a_platform_that_is_said(monkeypatch):
    monkeypatch.delenv(lti.VARIABLE, raising=False)
    with pytest.raises(Unusable, match="no platform is configured"):
        lti.settings()


def test_exporting_to_files_needs_nothing_of_it():
    code = "import sys; sys.modules['authlib'] = None; import grader.export.commands"
    subprocess.run([sys.executable, "-c", code], cwd=coursedir.ROOT, check=True, timeout=60)
