"""Extensions and groups: granted one after the other, kept whole, lost never."""

import concurrent.futures
import datetime
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.policy.lateness import UTC, Duration
from grader.policy.roster import Extension, Roster, RosterFile
from grader.policy.rules import Policy, PolicyError, Rules

LAB = "01-message-passing"
DUE = datetime.datetime(2026, 11, 1, 22, 59, 59, tzinfo=UTC)
RULES = Policy(True, labs={LAB: Rules(due=DUE)})
NAMES = st.sampled_from(["ada", "ben", "chloé", "d e", "x+y", "名前"])


def grant(path, number):
    with RosterFile(path).changing() as held:
        held[0] = held[0].extend(LAB, f"s{number}", Extension(Duration(number + 1)))


def test_calls_at_the_same_time_lose_nothing(tmp_path):
    path = tmp_path / "roster.json"
    with concurrent.futures.ProcessPoolExecutor(8) as pool:
        for done in [pool.submit(grant, path, number) for number in range(40)]:
            done.result()
    assert len(RosterFile(path).read().extensions[LAB]) == 40


def test_what_was_granted_is_read_as_it_was(tmp_path):
    until = Extension(until=DUE + datetime.timedelta(days=2))
    roster = Roster().extend(LAB, "ada", until).extend(LAB, "d e", Extension(Duration(1, 5)))
    roster = roster.group(LAB, ("ben", "ada"))
    with RosterFile(tmp_path / "roster.json").changing() as held:
        held[0] = roster
    assert RosterFile(tmp_path / "roster.json").read() == roster


def test_who_fails_in_the_middle_changes_nothing(tmp_path):
    file = RosterFile(tmp_path / "roster.json")
    with pytest.raises(ZeroDivisionError), file.changing() as held:
        held[0] = held[0].extend(LAB, "ada", Extension(Duration(1)))
        raise ZeroDivisionError
    assert file.read() == Roster() and not file.path.exists()


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", '{"extensions": 1, "groups": {}}', "[" * 100_000,
     '{"extensions": {"l": {"a": {"days": -1, "seconds": 0}}}, "groups": {}}',
     '{"extensions": {"l": {"a": {"days": 999999999, "seconds": 0}}}, "groups": {}}',
     '{"extensions": {"l": {"a": {"days": "x", "seconds": 0}}}, "groups": {}}',
     '{"extensions": {}, "groups": {"l": [[1]]}}'],
)  # fmt: skip
def test_a_damaged_file_is_refused_and_not_written_over(tmp_path, content):
    path = tmp_path / "roster.json"
    path.write_text(content)
    with pytest.raises(PolicyError, match=r"roster\.json is damaged"):
        grant(path, 1)
    assert path.read_text() == content


def test_the_same_grants_are_the_same_bytes_in_any_order(tmp_path):
    for name, order in (("a", (1, 2, 3)), ("b", (3, 1, 2))):
        for number in order:
            grant(tmp_path / name, number)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert json.loads((tmp_path / "a").read_text())["extensions"][LAB]["s1"]["days"] == 2


@given(st.lists(st.lists(NAMES, min_size=1, max_size=4, unique=True).map(tuple), max_size=8))
def test_everybody_is_in_one_group_at_most_and_with_whom_was_named_last(groups):
    roster = Roster()
    for members in groups:
        roster = roster.group(LAB, members)
        assert set(roster.members(LAB, members[0])) == set(members)
        everybody = [name for group in roster.groups[LAB] for name in group]
        assert len(everybody) == len(set(everybody))


def test_the_longest_extension_of_its_members_is_a_groups():
    roster = Roster().group(LAB, ("ada", "ben")).extend(LAB, "ben", Extension(Duration(3)))
    assert roster.due(RULES, LAB, "ada") == DUE + datetime.timedelta(days=3)
    assert roster.group(LAB, ("ada",)).due(RULES, LAB, "ada") == DUE


def test_an_extension_given_again_stands_in_place_of_the_first():
    roster = Roster().extend(LAB, "ada", Extension(Duration(3)))
    assert roster.extend(LAB, "ada", Extension(Duration(1))).due(RULES, LAB, "ada") == (
        DUE + datetime.timedelta(days=1)
    )
    assert roster.extend(LAB, "ada", None).due(RULES, LAB, "ada") == DUE
