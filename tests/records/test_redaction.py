"""What a message on a hidden case repeats, and what it does not."""

import time

import pytest

from distlab import course
from distlab.engines.outcomes import Finding, Outcome, Run
from distlab.exercises.exercise import Case
from distlab.exercises.judge import judge
from distlab.exercises.sources import Sources
from distlab.records import events, reading, redaction

EXCHANGE = course.find("01-message-passing/exchange")
CELLS = Sources(
    {"exchange": "def exchange(rank):\n" + "    pass\n" * 9 + "\n" + "    pass\n" * 999}
)


def told(run: Run, hidden: bool) -> str:
    case = Case(2, 1, hidden=hidden)
    return judge(EXCHANGE, [case], lambda *_: [None, None], lambda *_: run, CELLS).message


def raised(kind: str, message: str, line: int = 4) -> Run:
    frame = {"function": "seven_eleven", "line": line, "file": "exchange", "text": "input = 7.11"}
    error = {"type": kind, "message": message, "frames": [frame]}
    return Run([Outcome(rank, "raised", error=error) for rank in range(2)], [], 0.0, 1.0)


def test_of_an_exception_in_a_hidden_case_the_type_and_the_line_are_told():
    run = raised("ValueError", "seven point eleven")
    assert "ValueError: seven point eleven at seven_eleven:4" in told(run, hidden=False)
    assert "raised ValueError at line 4" in told(run, hidden=True)
    assert "eleven" not in told(run, hidden=True)


def test_where_a_rank_computes_is_told_by_its_line():
    records = [
        events.RankRecord(rank, 2, events.RUNNING, 1.0, computes="seven_eleven:4")
        for rank in range(2)
    ]
    late = Run([Outcome(0), Outcome(1)], records, 0.0, 10.0, timed_out=True)
    assert "rank 0 computes at seven_eleven:4, rank 1" in told(late, hidden=False)
    said = told(late, hidden=True)
    assert "rank 0 computes at line 4" in said and "eleven" not in said


def test_what_a_thread_has_raised_is_told_by_its_type_and_its_line():
    frame = {"function": "seven_eleven", "line": 4, "file": "", "text": ""}
    error = {"type": "ValueError", "message": "seven point eleven", "frames": [frame]}
    records = [events.RankRecord(r, 2, events.RUNNING, 1.0, beside=error) for r in range(2)]
    late = Run([Outcome(0), Outcome(1)], records, 0.0, 10.0, timed_out=True)
    said = "Threads of ranks 0 and 1 raised ValueError: seven point eleven at seven_eleven:4."
    assert said in told(late, hidden=False)
    said = told(late, hidden=True)
    assert "Threads of ranks 0 and 1 raised ValueError at line 4" in said and "eleven" not in said


@pytest.mark.parametrize("line", [0, 11, 501, 1011, 99_999])
def test_a_line_that_does_not_stand_in_the_answer_carries_nothing(line):
    """The 11th is blank; after the 500th a number could be an input."""
    assert "raised ValueError (its text" in told(raised("ValueError", "", line), hidden=True)
    waits = Finding("cycle", f"rank 0 waits in recv(src=1) at seven:{line}.", "Look.")
    message = told(Run([Outcome(0), Outcome(1)], [], 0.0, 1.0, waits), hidden=True)
    assert "rank 0 waits in recv(src=1)." in message
    assert redaction.clipped(f"see line {line}, line 4", CELLS.holds) == "see a line, line 4"


def test_the_line_is_quoted_from_the_answer_and_not_as_the_rank_has_told_it():
    cells = {
        "exchange": "def exchange(rank):\n    pass\n\n    raise ValueError(rank)\n",
        "cell 7": "def seven_eleven(rank):\n    a = 1\n    b = 2\n    return b / (a - 1)\n",
    }
    case = Case(2, 1, hidden=True)

    def judged(run):
        found = judge(EXCHANGE, [case], lambda *_: [None] * 2, lambda *_: run, Sources(cells))
        assert "7.11" not in found.message
        return found.lines

    assert judged(raised("ValueError", "")) == (("Line 4", "return b / (a - 1)"),)
    run = raised("ValueError", "")
    for outcome in run.outcomes:
        outcome.error["frames"][0]["function"] = "of_no_cell"
    assert judged(run) == ()


def test_an_exception_of_ones_own_has_no_name_in_a_hidden_case():
    run = raised("Seven_Point_Eleven", "")
    assert "Seven" in told(run, hidden=False) and "Seven" not in told(run, hidden=True)


@pytest.mark.parametrize(
    ("said", "quoted"),
    [
        ("rank 0 waits in send(dst=1) at exchange:4", "rank 0 waits in send(dst=1) at line 4"),
        ("rank 1 waits in seven(src=0) at eleven:12", "rank 1 waits in call(src=0) at line 12"),
        ("has tag 711, not 0", "has tag #, not 0"),
        ("in sieben_ölf(src=0), сем.send(dst=1)", "in call(src=0), call(dst=1)"),
        ("7eleven(src=1) and <lambda>(dst=0)", "call(src=1) and call(dst=0)"),
        ("allreduce(name=seven.11/x) at f:4", "allreduce() at line 4"),
        ("broadcast(root=0, name=сем) waits", "broadcast(root=0) waits"),
        ("shape (3, 711), -1.5e3 at {711}", "shape (#, #), # at #"),
        ("the buffer 32. Rank 1 waits for rank 2.", "the buffer #. Rank 1 waits for rank 2."),
    ],
)
def test_of_operations_calls_ranks_and_lines_are_told(said, quoted):
    assert redaction.operations(said, 3) == quoted


def test_a_long_word_costs_no_time():
    """A process that is not trusted says it, and may say megabytes."""
    begin = time.process_time()
    assert redaction.operations("seven" * 8_000, 3) == "seven" * 8_000
    assert time.process_time() - begin < 5  # 13 s where a call is looked for from each letter on


def test_a_deadlock_in_a_hidden_case_is_told_in_those_words():
    waits = Finding("cycle", "rank 0 waits in recv(src=1) at seven:3 with tag 711.", "Look.")
    run = Run([Outcome(0), Outcome(1)], [], 0.0, 1.0, waits)
    message = told(run, hidden=True)
    assert "rank 0 waits in recv(src=1) at line 3" in message
    assert "seven" not in message and "711" not in message


def test_a_name_that_is_none_is_not_read_from_a_record():
    assert reading._name(b"exchange\0\0") == "exchange"
    assert reading._name(b"<lambda>\0") == "<lambda>"
    assert reading._name(b"a 711:3\0") == "?"


def test_a_rule_broken_in_a_hidden_case_is_told_without_names():
    event = events.Event(
        0, 0, "send", "seven", (0, 1), 0, 1, 711, 4, "float32", (1,), 1, "", "eleven", "seven", 3,
        events.DONE, 0, 1.0, 2.0, 1.0, 2.0, 0.0, "seven",
    )  # fmt: skip
    (record,) = redaction.events([events.RankRecord(0, 2, events=[event])])
    (redacted,) = record.events
    assert (redacted.api, redacted.function, redacted.line) == ("", "f", 3)
    assert redaction.operations(f"{redacted} at {redacted.place}", 2) == "send(dst=1) at line 3"


def test_a_file_name_is_shown_without_what_a_terminal_obeys():
    assert redaction.shown("a\x1b[2J\n\udcff.ipynb") == "a\\x1b[2J\\n\\udcff.ipynb"
