"""The file to which is only added: what a crash leaves of it, and what damage does."""

import multiprocessing

import pytest

from grader.looks.diary import Damaged, Diary, about

KEY = ("ada", "01-message-passing", "relay")


@pytest.fixture
def diary(tmp_path):
    return Diary(tmp_path / "looks.jsonl")


def ask(diary, said, request="1/x"):
    with diary.adding() as adding:
        adding.add(about(adding.state.look(*KEY), "asked", said=said, request=request))


def test_without_a_file_nothing_was_asked(diary):
    assert not diary.read().looks and not diary.path.exists()


def test_what_is_added_is_read_and_what_was_there_stays(diary):
    ask(diary, "One.")
    before = diary.path.read_bytes()
    ask(diary, "Two.", "1/y")
    assert diary.path.read_bytes().startswith(before)
    assert [one.said for one in diary.read().looks[KEY].asked] == ["One.", "Two."]


def test_killed_at_each_byte_of_a_line_it_goes_on(diary):
    ask(diary, "One.")
    whole = diary.path.read_bytes()
    ask(diary, "Two.", "1/y")
    both = diary.path.read_bytes()
    for end in range(len(whole), len(both)):
        diary.path.write_bytes(both[:end])
        assert [one.said for one in diary.read().looks[KEY].asked] == ["One."]
        ask(diary, "Three.", "1/z")
        assert [one.said for one in diary.read().looks[KEY].asked] == ["One.", "Three."]


@pytest.mark.parametrize(
    "line",
    [
        "nonsense", "3", "[]", "null", '{"what": "told"}', "[" * 5000, '{"what": "asked"}',
        '{"what": "kept", "name": 3, "comment": ""}',
        '{"what": "asked", "student": "a", "lab": "b", "exercise": "c", "said": "d", "when": "e"}',
    ],
)  # fmt: skip
def test_a_damaged_line_is_named_and_nothing_is_added(diary, line):
    ask(diary, "One.")
    with diary.path.open("a") as file:
        file.write(f"{line}\n")
    content = diary.path.read_bytes()
    with pytest.raises(Damaged, match="line 2, is damaged"):
        ask(diary, "Two.", "1/y")
    assert diary.path.read_bytes() == content


def test_a_file_that_cannot_be_read_is_said(diary):
    diary.path.mkdir()
    with pytest.raises(Damaged, match="cannot be read"):
        diary.read()


def add_some(path, name):
    for number in range(20):
        ask(Diary(path), f"{name}{number}", f"{name}/{number}")


def test_several_who_add_at_once_lose_nothing(diary):
    context = multiprocessing.get_context("fork")
    adders = [context.Process(target=add_some, args=(diary.path, name)) for name in "abc"]
    for one in adders:
        one.start()
    for one in adders:
        one.join(60)
    assert [one.exitcode for one in adders] == [0, 0, 0]
    said = [one.said for one in diary.read().looks[KEY].asked]
    assert len(said) == 60 and all(
        [s for s in said if s[0] == name] == [f"{name}{n}" for n in range(20)] for name in "abc"
    )
