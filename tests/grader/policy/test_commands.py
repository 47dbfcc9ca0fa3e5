"""What the commands of the policy grant, print and refuse."""

import pytest

from distlab import cli, course
from grader import coursedir
from grader.judging import grade
from grader.policy import commands, policy, roster
from grader.policy.lateness import Duration

LAB = "01-message-passing"
POLICY = f"""
timezone: Europe/Berlin
late: {{penalty: 10%}}
largest_group: 3
labs: {{{LAB}: {{release: 2026-10-12, due: 2026-11-01 23:59}}}}
"""
ODD = "d'\u00e9 x+y@z.org"


@pytest.fixture
def distlab(tmp_path, monkeypatch, capsys):
    """`distlab(words)`: the status, what is printed, and what is said of a mistake."""
    monkeypatch.chdir(coursedir.ROOT)
    monkeypatch.setattr(policy, "PATH", tmp_path / "policy.yaml")
    for module in (commands, roster):
        monkeypatch.setattr(module, "GRADES", tmp_path)
    monkeypatch.setattr(grade, "SUBMITTED", tmp_path / "submitted")
    for name in ("ada", "ben", ODD.replace("'", "")):
        (tmp_path / "submitted" / name / LAB).mkdir(parents=True)
    (tmp_path / "policy.yaml").write_text(POLICY)

    def run(*words):
        status = cli.main(list(words))
        return status, *capsys.readouterr()

    return run


def granted(tmp_path):
    return roster.RosterFile(tmp_path / "roster.json").read()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["extend", "ada", LAB, "-3d"], "is no extension (only forward)"),
        (["extend", "ada", LAB, "0d"], "is no extension (no time at all)"),
        (["extend", "ada", LAB], "is no extension"),
        (["extend", "ada", LAB, "soon"], "write 3d, 12h"),
        (["extend", "ada", LAB, "900d"], "at most 366 days"),
        (["extend", "ada", LAB, "2026-10-01"], "is not after the due date"),
        (["extend", "ada", LAB, "2027-03-28 02:30"], "skip this time"),
        (["extend", "adda", LAB, "3d"], "did you mean ada?"),
        (["extend", "zoe", LAB, "3d"], "is added with --new"),
        (["extend", "ada", "03-cifar10-ddp", "3d"], "has no due date"),
        (["extend", "../ada", LAB, "3d", "--new"], "cannot be a student's name"),
        (["extend", "a\x1b[31mda", LAB, "3d", "--new"], "cannot be a student's name"),
        (["extend", "n" * 101, LAB, "3d", "--new"], "cannot be a student's name"),
        (["group", LAB, "ada", "adda"], "did you mean ada?"),
        (["group", LAB], "who?"),
        (["group", LAB, "a", "b", "c", "d", "--new"], "at most 3 members"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_in_one_line_and_changes_nothing(
    tmp_path, distlab, words, said
):
    status, out, error = distlab(*words)
    assert status == 1 and not out
    assert error.count("\n") == 1 and said in error and "\x1b" not in error
    assert granted(tmp_path) == roster.Roster()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["extend", "ada", "01-mesage-passing", "3d"], f"did you mean {LAB}?"),
        (["policy", "nothing"], "there is no lab"),
        (["recompute", "nothing"], "there is no lab"),
    ],
)
def test_a_lab_that_is_none_is_said_in_one_line_and_changes_nothing(tmp_path, distlab, words, said):
    status, out, error = distlab(*words)
    assert status == 2 and not out
    assert error.count("\n") == 1 and said in error
    assert granted(tmp_path) == roster.Roster()


def test_a_number_names_a_lab(distlab):
    assert distlab("policy", "1") == distlab("policy", "01") == distlab("policy", LAB)


def test_an_extension_is_granted_printed_and_taken_back(tmp_path, distlab):
    for words, shown in (
        (["3d"], "Wed 4 November 2026, 23:59 CET"),
        (["1d", "6h"], "Tue 3 November 2026, 05:59 CET"),
        (["2026-11-05"], "Thu 5 November 2026, 23:59 CET"),
        (["2026-11-05", "18:00"], "Thu 5 November 2026, 18:00 CET"),
    ):  # fmt: skip
        status, out, _ = distlab("extend", "ada", LAB, *words)
        assert status == 0 and f"ada's {LAB} is due {shown}." in out
    assert "Extension: ada, due Thu 5 November 2026, 18:00 CET." in distlab("policy", LAB)[1]
    assert distlab("extend", "ada", LAB, "none")[0] == 0
    assert granted(tmp_path) == roster.Roster()


def test_names_may_be_odd(tmp_path, distlab):
    name = ODD.replace("'", "")
    assert distlab("extend", name, LAB, "3d")[0] == 0
    assert distlab("group", LAB, name, "ada", "\u540d\u524d", "--new")[0] == 0
    assert granted(tmp_path).extensions[LAB][name].longer == Duration(3)
    assert set(granted(tmp_path).members(LAB, "ada")) == {"ada", name, "\u540d\u524d"}
    assert "Group: " in distlab("policy", LAB)[1]


def test_the_policy_in_force_is_printed(distlab):
    status, out, _ = distlab("policy")
    assert status == 0 and f"{LAB}\n  Released: Mon 12 October 2026, 00:00 CEST.\n  Due: Sun" in out
    assert all(lab in out for lab in course.LABS)  # groups are limited in all of them


def test_without_a_policy_that_is_said(tmp_path, distlab, monkeypatch):
    (tmp_path / "policy.yaml").unlink()
    assert f"There is no {policy.PATH}: no due dates" in distlab("policy")[1]
    assert "has no due date" in distlab("extend", "ada", LAB, "3d")[2]
    monkeypatch.setattr(policy, "PATH", policy.NOWHERE)
    assert distlab("policy")[1].startswith("DISTLAB_POLICY=none: no due dates")


@pytest.mark.parametrize("words", [["policy"], ["recompute"], ["extend", "ada", LAB, "3d"]])
def test_a_policy_that_cannot_be_read_stops_everything(tmp_path, distlab, words):
    (tmp_path / "policy.yaml").write_text("late: {penalty: lots}")
    assert "policy.yaml, line 1: penalty is 'lots'" in distlab(*words)[2]


def test_it_stops_grading_before_anything_is_judged(tmp_path, monkeypatch):
    monkeypatch.setattr(policy, "PATH", tmp_path / "policy.yaml")
    (tmp_path / "policy.yaml").write_text("late: {penalty: lots}")
    with pytest.raises(policy.PolicyError, match="line 1"):
        grade.grade(LAB, tmp_path, None, None)
