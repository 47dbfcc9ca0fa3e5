"""Which submissions are alike: by text, by runs, and how it is told."""

import json
import keyword
import random
import time
from dataclasses import asdict

import classes
import harmless
import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded import event

from bench import disguises
from distlab.course import find
from distlab.engines.outcomes import Run
from distlab.exercises.exercise import Case
from distlab.exercises.verdict import Verdict
from distlab.records.events import ANY_SOURCE, RETURNED, RankRecord
from grader import collected, commands, coursedir
from grader.judging import grade, ledger
from grader.judging.ledger import Entry, Ledger, Line
from grader.likeness import index, pairs, section, submissions, tokens
from grader.likeness.fingerprints import RUN, WINDOW, fingerprints, winnowed
from grader.likeness.helpers import NO_PYTHON, OWN
from grader.likeness.pairs import likeness
from grader.likeness.pattern import HASH, pattern
from grader.likeness.submissions import Work
from grader.reports import report

LAB = classes.LAB
ANSWERS = [answer for answer in collected.answers(LAB) if answer.right]
#: own names stand where `{…}` does
TEMPLATE = '''
import torch.distributed as {alias}
from torch import empty_like as {like}

class {kind}:
    """A link."""
    def __init__(self, {rank}):
        self.{before} = {rank} - 1
    def {take}(self, {tensor}):
        {buffer} = {like}({tensor})
        {alias}.recv({buffer}, src=self.{before})
        return {buffer}

def {answer}({rank}, {size}, {tensor}):
    {other} = [{each} for {each} in range({size}) if {each} != {rank}]
    with torch.no_grad():
        {tensor} += {kind}({rank}).{take}({tensor}).sum(dim=0)
    dist.send({tensor}, dst={other}[0])
    return {tensor}
'''
HOLES = (
    "alias", "like", "kind", "rank", "before", "take", "tensor", "buffer", "answer", "size",
    "other", "each",
)  # fmt: skip
_OF_LIBRARIES = {"torch", "dist", "self", "range", "send", "recv", "sum", "no_grad", "empty_like"}
names = st.lists(
    st.from_regex(r"[a-zA-Z][a-z0-9_]{0,8}", fullmatch=True).filter(
        lambda name: not keyword.iskeyword(name) and name not in _OF_LIBRARIES
    ),
    min_size=len(HOLES), max_size=len(HOLES), unique=True,
)  # fmt: skip


@given(names, names)
def test_renaming_all_names_changes_nothing(some, others):
    one, other = (
        TEMPLATE.format(**dict(zip(HOLES, these, strict=True))) for these in (some, others)
    )
    assert fingerprints({"relay": one}) == fingerprints({"relay": other})


def test_a_name_of_another_cell_may_be_changed_too():
    def cells(name):
        return {OWN: f"def {name}(x, y):\n    return x + y", "relay": f"z = {name}(1, 2) + f(3)"}

    assert fingerprints(cells("helper")) == fingerprints(cells("neighbour"))


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda a: f"{a.exercise}-{a.path.stem}")
def test_comments_and_layout_change_nothing(answer):
    changed = disguises.comments(answer.source, random.Random(1))
    both = [set(fingerprints({"cell": each})["cell"]) for each in (answer.source, changed)]
    assert both[0] == both[1]


def test_what_a_library_is_asked_for_makes_a_difference():
    def words(call):
        return [token.word for token in tokens.tokens({"a": f"def f(t):\n    {call}(t, 1)"})["a"]]

    assert words("dist.send") != words("dist.recv")


@given(
    st.lists(st.integers(0, 5), max_size=30), st.lists(st.integers(0, 5), max_size=30),
    st.lists(st.integers(0, 5), min_size=WINDOW, max_size=40),
)  # fmt: skip
def test_what_is_as_long_as_a_window_and_stands_in_both_is_found(before, after, common):
    one, other = [*before, *common], [*common, *after]
    chosen = [{hashes[at] for at in winnowed(hashes)} for hashes in (one, other)]
    assert chosen[0] & chosen[1]


def drawn(count, seed=0):
    """Submissions of collected right answers, by student; no two have more than three in common."""
    rng = random.Random(seed)
    pools = {}
    for answer in ANSWERS:
        pools.setdefault(answer.exercise, []).append(answer.source)
    works = []
    while len(works) < count:
        sources = {name: rng.choice(some) for name, some in pools.items()}
        if all(len(sources.items() & work.sources.items()) <= 3 for work in works):
            works.append(Work(f"s{len(works):02}", sources))
    return works


def starter():
    return submissions.starter(LAB)


def named(found):
    return [(pair.one.student, pair.other.student, round(pair.weight, 6)) for pair in found.pairs]


def with_copy():
    works = drawn(24)
    rng = random.Random(7)
    copy = {name: disguises.renamed(text, rng) for name, text in works[3].sources.items()}
    return [*works, Work("t", copy)]


def test_a_copy_with_other_names_comes_first_and_is_told_with_its_passages():
    found = likeness(with_copy(), starter())
    assert named(found)[0][:2] == ("s03", "t")
    first = section.told(found)[0]
    assert first.passages and all("%" in said or "same" in said for _, said in first.reasons)
    assert all(any(shared for *_, shared in side.lines) for side in first.passages[0].sides)


@settings(max_examples=5, deadline=None)  # each takes half a second
@given(st.permutations(range(25)))
def test_the_order_of_submissions_changes_nothing(order):
    works = with_copy()
    shuffled = likeness([works[number] for number in order], starter())
    assert named(shuffled) == named(likeness(works, starter()))


def test_what_all_have_makes_nobody_alike():
    same = drawn(1)[0].sources
    assert likeness([Work(f"s{n}", same) for n in range(20)], starter()).pairs == []


def test_a_copy_of_the_starter_notebook_is_like_nobody(tmp_path):
    blank = coursedir.released(LAB)
    entries = []
    for name in ("ada", "ben"):
        collected.hand_in(tmp_path, name, LAB, blank)
        entries.append(Entry(name, LAB, ""))
    works = list(submissions.read(LAB, tmp_path / "submitted", entries))
    assert [work.sources for work in works] == [{}, {}]
    found = likeness([*works, *drawn(10)], starter())
    assert not {"ada", "ben"} & {
        s for pair in found.pairs for s in (pair.one.student, pair.other.student)
    }


def test_the_starters_own_lines_weigh_nothing():
    """Two who keep what a cell was released with and write nothing of their own."""
    texts = {cell.name: cell.source for cell in submissions.notebook.cells(coursedir.released(LAB))}
    works = [Work(name, {"relay": texts["relay"] + "\n# mine\n"}) for name in ("ada", "ben")]
    assert likeness([*works, *drawn(10)], starter()).pairs == []


HOSTILE = [
    "-" * 200_000 + "1", "(" * 200_000, '"""' + "a\n" * 100_000, "x = " + "[" * 90 + "]" * 90,
    "\0", "\ud800 = 1", "\u202edef f(): pass", "f" + "'{" * 5000, "\\\n" * 50_000, "%%bash\nrm x",
    "a." * 100_000, "if 1:\n" + " x\n  y\n", "def f(:\n" * 20_000, "'" * 99_999, "\r" * 50_000,
    "# " + "x" * 100_000, "x=1;" * 60_000, "f'{f\"{1}\"}'" * 10_000,
]  # fmt: skip


@pytest.mark.parametrize("source", HOSTILE, ids=lambda source: ascii(source[:8]))
def test_hostile_sources_cost_bounded_time(source):
    work = Work("mal")
    cell = submissions.notebook.Cell("relay", source, "solution")
    begin = time.process_time()
    submissions.fill(work, submissions.submission.Plan([cell], {"relay"}))
    found = likeness([work, Work("eve", dict(work.sources)), *drawn(3)], starter())
    section.told(found)
    assert time.process_time() - begin < 10
    assert len(work.sources["relay"]) <= tokens.MOST_CHARACTERS
    if len(source) > tokens.MOST_CHARACTERS:
        (said,) = work.left_out
        assert "of relay only the first" in said and ("mal", said) in found.left_out


def test_a_submission_of_50_mb_is_named_and_costs_bounded_time(tmp_path):
    large = collected.handed_in(LAB, relay="def relay(): pass")
    cell = {"cell_type": "code", "metadata": {}, "source": "x = 1\n" * 160_000, "outputs": [],
            "execution_count": None}  # fmt: skip
    large["cells"] += [cell] * 55
    collected.hand_in(tmp_path, "mal", LAB, large)
    begin = time.process_time()
    (work,) = submissions.read(LAB, tmp_path / "submitted", [Entry("mal", LAB, "")])
    found = likeness([work, *drawn(3)], starter())
    assert time.process_time() - begin < 20
    assert [student for student, _ in found.left_out] == ["mal"]


def test_pairs_are_counted_up_to_a_limit(monkeypatch):
    monkeypatch.setattr(index, "MOST_STEPS", 10)
    some = {number: range(number % 15 * 10, number % 15 * 10 + 10) for number in range(30)}
    limited = index.Index(some)
    assert sum(limited.pairs().values()) and not limited.complete


def test_the_same_rare_mistake_is_told_and_a_common_one_is_not():
    def line(hint):
        return {"relay": Line("relay", "wrong", 0.0, 3.0, hint=hint, happened="rank 0 returned 1")}

    works = [Work(f"s{n}", {}, line("sum for mean" if n < 2 else f"{n % 2}")) for n in range(24)]
    (rare,) = pairs._Class(works, starter())._habits["relay"][:1]
    assert rare.who == (0, 1) and "sum for mean" in rare.said
    (said,) = section.sentences(pairs.Alike("relay", 1.0, None, 24, (rare,)))
    assert said == "Both fail in the same way, as in 2 of 24 runs (wrong: sum for mean)"
    assert [h.who for h in pairs._Class(works, starter())._habits["relay"]] == [(0, 1)]


def ran(*events, shift=0.0, **about):
    records = [
        RankRecord(rank, 2, RETURNED, events=[
            event(rank, at, op, begin=at + shift, end=at + shift + 0.5, **{**extra, **about})
            for at, (op, extra) in enumerate(events)
        ])
        for rank in (0, 1)
    ]  # fmt: skip
    return Verdict(find(f"{LAB}/relay"), "passed", run=Run([], records, 1.0, 10.0), case=Case(2, 1))


def test_a_pattern_is_of_calls_and_their_order_and_of_nothing_else():
    calls = [("send", {"peer": 1}), ("barrier", {})]
    one = pattern(ran(*calls))
    assert one == pattern(ran(*calls, shift=3.0, line=77, function="other", file="x"))
    assert one[HASH:] == " rank 0: send to 1, barrier; rank 1: send to 1, barrier"
    other = pattern(ran(*reversed(calls)))
    assert one[:HASH] != other[:HASH]
    assert (
        pattern(ran(("send", {"peer": 1, "tag": 5})))[:HASH]
        != pattern(ran(("send", {"peer": 1})))[:HASH]
    )
    assert "tag" not in pattern(
        ran(("send", {"peer": 1, "tag": 987654}))
    ) and "987654" not in pattern(ran(("send", {"peer": 1, "tag": 987654})))


def test_whom_a_receive_from_anybody_met_is_no_part_of_a_pattern():
    some = [pattern(ran(("recv", {"peer": peer, "flags": ANY_SOURCE}))) for peer in (0, 1)]
    assert some[0] == some[1]


def test_nonsense_in_records_costs_no_verdict():
    verdict = ran(("send", {"peer": 1}), ("barrier", {}))
    verdict.run.records[0].events[0].begin = None
    assert ledger.line(verdict).pattern == ""


def test_a_ledger_from_before_patterns_loads_and_stays_entered(tmp_path):
    book = Ledger(tmp_path)
    entry = Entry("ada", LAB, "d", [Line("relay", "passed", 3.0, 3.0)])
    content = asdict(entry)
    del content["lines"][0]["pattern"], content["variant"]
    book.path(LAB, "ada").parent.mkdir(parents=True)
    book.path(LAB, "ada").write_text(json.dumps(content), "utf-8")
    assert book.get(LAB, "ada", "d") == entry and list(book.entries(LAB)) == [entry]
    before = ledger.hashlib.sha256(json.dumps([content, [1]]).encode()).hexdigest()
    book.path(LAB, "ada").with_suffix(".entered").write_text(before, "utf-8")
    assert book.entered(entry, 1)
    entry.lines[0].pattern = "0" * HASH + " rank 0: barrier"
    assert book.entered(entry, 1)


def test_who_was_not_compared_is_named_with_the_reason_alone(tmp_path, capsys):
    entries = [Entry("dora", LAB, "", unreadable="x"), Entry("eve", LAB, "", not_graded="x")]
    found = likeness([*submissions.read(LAB, tmp_path, entries), *drawn(3)], starter())
    assert found.left_out == [("dora", "it could not be read"), ("eve", "it was not graded")]
    commands.table.show_likeness(found, commands.Console())
    assert "not compared, or not in full: dora: it could not be read" in capsys.readouterr().out


def test_a_group_is_compared_once_and_never_with_itself(tmp_path):
    works = drawn(12)
    together = works[0]
    entries = []
    for work in works:
        own = collected.handed_in(LAB, **work.sources)
        collected.hand_in(tmp_path, work.student, LAB, own)
        entries.append(Entry(work.student, LAB, ""))
    odd = [Line(n, "wrong", 0.0, 3.0, happened=f"{n} is odd") for n in list(together.sources)[:8]]
    entries[0].lines = odd
    collected.hand_in(tmp_path, "zoe", LAB, collected.handed_in(LAB, **together.sources))
    for name in ("zoe", "yan"):  # zoe's own folder holds what she had before; yan's is not there
        entries.append(Entry(name, LAB, "", odd, by=together.student))
    read = list(submissions.read(LAB, tmp_path / "submitted", entries))
    assert [work.student for work in read] == [work.student for work in works]
    found = likeness(read, starter())
    assert named(found) == named(likeness(works, starter())) and found.left_out == []


def test_what_strangers_wrote_is_shown_and_does_nothing(tmp_path):
    evil = "</pre><script>alert(1)</script>\x1b[2J\u202e " + "".join(harmless.PAYLOADS)
    works = with_copy()
    for work in (works[3], works[-1]):
        work.student = f"<img src=x onerror=alert(1)>\u202e{work.student}"
        work.sources = {name: f"# {evil}\n{text}" for name, text in work.sources.items()}
        work.lines = {"relay": Line("relay", "wrong", 0.0, 3.0, hint=evil)}
        work.left_out = [evil]
    found = likeness(works, starter())
    page = report.write_likeness(tmp_path / "likeness.html", LAB, found).read_text("utf-8")
    assert harmless.harm(page) == []
    assert "\x1b" not in page and "\u202e" not in page
    assert "<script>alert(1)</script>" in BeautifulSoup(page, "html.parser").get_text()


def test_the_report_has_the_section_of_several_and_not_of_one(tmp_path):
    def page(*some):
        path = report.write(tmp_path / "out.html", LAB, some, 1.0, alike=found)
        return path.read_text("utf-8")

    found = likeness(with_copy(), starter())
    one, other = (classes.graded(tmp_path, name) for name in ("s03", "t"))
    said = BeautifulSoup(page(one, other), "html.parser").get_text(" ")
    assert "s03 · t" in said and "This accuses nobody" in said
    assert "This accuses nobody" not in page(one)


def test_a_failure_here_costs_no_report(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(section, "likeness", lambda *_: 1 / 0)
    assert section.find(LAB, tmp_path, []) is None
    some = [classes.graded(tmp_path, name) for name in ("ada", "ben")]
    text = report.write(tmp_path / "out.html", LAB, some, 1.0).read_text("utf-8")
    assert "It could not be looked for" in text


def test_the_command_sorts_what_was_graded(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(coursedir, "GRADES", tmp_path)
    with pytest.raises(grade.NothingSubmitted, match="has been graded yet"):
        commands.likeness(LAB, tmp_path / "submitted")
    book = Ledger(tmp_path / "ledger")
    for work in with_copy():
        collected.hand_in(tmp_path, work.student, LAB, collected.handed_in(LAB, **work.sources))
        book.put(Entry(work.student, LAB, ""))
    assert commands.likeness(LAB, tmp_path / "submitted") == 0
    said = capsys.readouterr().out
    assert "s03 · t: alike in" in said and "25 submissions compared" in said
    assert (tmp_path / "out" / f"{LAB}-likeness.html").exists()


def test_the_command_compares_what_counts_for_a_group_as_the_report_does(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(coursedir, "GRADES", tmp_path)
    book, works = Ledger(tmp_path / "ledger"), with_copy()
    for work in works:
        collected.hand_in(tmp_path, work.student, LAB, collected.handed_in(LAB, **work.sources))
        book.put(Entry(work.student, LAB, ""))
    book.put(Entry("t", LAB, "", by="s03"))  # t and s03 are a group, and have both handed in
    assert commands.likeness(LAB, tmp_path / "submitted") == 0
    said = capsys.readouterr().out
    assert "s03 · t" not in said and "24 submissions compared" in said


def test_a_run_of_words_shorter_than_a_fingerprint_has_none():
    assert fingerprints({"a": "x = 1"}) == {"a": {}} and RUN > 3


def lines_with(source, end):
    """The source with something behind each line on which nothing is open."""
    return "\n".join(
        line if line.rstrip().endswith((":", "(", "[", "{", ",", "\\", '"""')) or not line.strip()
        else line + end
        for line in source.split("\n")
    )  # fmt: skip


DISGUISES = {
    "a shell command": lambda source: f"files = !ls\n{source}",
    "a question": lambda source: f"{source}\ntorch.cat?",
    "a cell's magic": lambda source: f"%%time\n{source}",
    "a margin": lambda source: "\n".join(f"    {line}" for line in source.split("\n")),
    "prompts": lambda source: "\n".join(f">>> {line}" for line in source.split("\n")),
    "numbers behind lines": lambda source: lines_with(source, "; 0"),
    "nothing behind lines": lambda source: lines_with(source, "; pass; ..."),
    "numbers before all": lambda source: "0;" * 12_000 + f"0\n{source}",
}
PLAIN = """import torch.distributed as dist

def relay(rank, size, tensor):
    if rank > 0:
        dist.recv(tensor, src=rank - 1)
    tensor += rank
    if rank + 1 < size:
        dist.send(tensor, dst=rank + 1)
    return tensor
"""


@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES)
def test_what_costs_a_copier_a_keystroke_changes_nothing(disguise):
    """All of these run in a notebook as the plain source does."""
    other = fingerprints({"relay": disguise(PLAIN.strip())})["relay"]
    assert len(set(other) & set(fingerprints({"relay": PLAIN})["relay"])) >= 0.9 * len(
        fingerprints({"relay": PLAIN})["relay"]
    )


def filled(answers, *added):
    """What of such cells is compared."""
    work, cell = Work("mal"), submissions.notebook.Cell
    cells = [cell(name, source, "solution") for name, source in answers.items()]
    cells += [cell(f"cell {number}", source, "added") for number, source in enumerate(added)]
    submissions.fill(work, submissions.submission.Plan(cells, set(answers)))
    return work


CALLED = "def relay(rank, size, tensor):\n    return mine(rank, size, tensor)\n"
MINE = PLAIN.replace("relay", "mine")
RUN_CELLS = [{"cell_type": "code", "source": source} for source in ("x = (", MINE)]
WRITTEN = "%%writefile mine.ipynb\n" + json.dumps({"nbformat": 4, "cells": RUN_CELLS})


@pytest.mark.parametrize(
    ("answer", "added"),
    [(CALLED, [MINE]), (CALLED, ["!ls\n" + MINE]), (CALLED, ["def x(:", MINE, "x = ("]),
     ("relay = None", ["x = 1", PLAIN]),
     (CALLED, [MINE.replace("mine", "yours"), "mine = lambda *all: yours(*all)"]),
     (CALLED, ["%%writefile mine.py\n" + MINE]), (CALLED, [WRITTEN])],
    ids=["called", "with a magic", "beside what is no Python", "defined anew", "called by another",
         "in a module", "in a notebook that is run"],
)  # fmt: skip
def test_a_copy_in_a_cell_of_its_own_is_compared_with_answers(answer, added):
    sources = filled({"relay": answer, "ring": "def ring(rank): return rank"}, *added).sources
    plain = set(fingerprints({"relay": PLAIN})["relay"])
    assert len(plain & set(fingerprints(sources)["relay"])) >= 0.8 * len(plain)


def test_what_no_answer_uses_stays_with_cells_of_their_own():
    work = filled({"relay": PLAIN, "ring": CALLED}, "print(relay)", "def x(:", MINE, "y = 2")
    assert list(work.sources) == ["relay", "ring", OWN, NO_PYTHON]
    assert work.sources["relay"] == PLAIN and MINE in work.sources["ring"]
    assert work.sources[OWN] == "print(relay)\n\ny = 2" and work.sources[NO_PYTHON] == "def x(:"


def test_cells_without_end_that_call_each_other_cost_bounded_time():
    chain = [f"def h{number}(): h{number + 1}()" for number in range(20_000)]
    begin = time.process_time()
    work = filled({"relay": "def relay(): h19999()"}, *chain)
    assert time.process_time() - begin < 10
    assert any("were compared" in said for said in work.left_out)
