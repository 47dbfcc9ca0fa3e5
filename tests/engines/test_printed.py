"""What ranks have printed is there below a verdict that says that the answer is not right."""

import sys
import warnings

import cloudpickle
import pytest
import torch
import torch.distributed as dist

from distlab import Ranks, check
from distlab.checking.check import CheckFailed, Shown
from distlab.engines.outcomes import Outcome, Run
from distlab.engines.printed import LONGEST, MOST, printed
from distlab.records.events import RankRecord
from grader.coursedir import LABS

cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture(autouse=True)
def lab(monkeypatch):
    """A notebook is opened in its own folder."""
    monkeypatch.chdir(LABS / "01-message-passing")
    monkeypatch.setattr(sys.modules["distlab.checking.check"], "_references", {})


def run(*texts):
    outcomes = [Outcome(rank, "returned", printed=text) for rank, text in enumerate(texts)]
    return Run(outcomes, [RankRecord(rank, len(texts)) for rank in range(len(texts))], 0.0, 1.0)


def waits(rank, size, tensor):
    print("<before>", rank)
    dist.recv(tensor, rank ^ 1)
    print("after")


def raises(rank, size, tensor):
    print("<before>", rank)
    raise ValueError(rank)


def returns(rank, size, tensor):
    print("<before>", rank)
    return tensor


@pytest.mark.parametrize("answer", [waits, raises, returns])
def test_what_ranks_printed_before_it_went_wrong_stands_below_the_verdict(answer, capsys):
    with pytest.raises(CheckFailed) as failed:
        check(answer, "exchange")
    told = capsys.readouterr().out
    assert told.splitlines()[-3:] == [
        "  what was printed:", "    [rank 0] <before> 0", "    [rank 1] <before> 1",
    ]  # fmt: skip
    page = Shown(failed.value.verdict)._repr_html_()
    assert "[rank 0] &lt;before&gt; 0\n[rank 1] &lt;before&gt; 1" in page
    assert "before" not in failed.value.verdict.message


def test_where_nothing_was_printed_nothing_is_said_of_it(capsys):
    with pytest.raises(CheckFailed) as failed:
        check(lambda rank, size, tensor: tensor, "exchange")
    assert "printed" not in capsys.readouterr().out
    assert "printed" not in Shown(failed.value.verdict)._repr_html_()


def test_of_many_lines_the_first_and_the_last_are_shown_and_the_others_counted():
    lines = [str(number) for number in range(10_000)]
    shown = printed(run("\n".join(lines), "one")).splitlines()
    half = MOST // 2
    assert shown[:half] == [f"[rank 0] {line}" for line in lines[:half]]
    assert shown[half] == f"[rank 0] … {10_000 - MOST:,} lines left out"
    assert shown[half + 1 :] == [f"[rank 0] {line}" for line in lines[-half:]] + ["[rank 1] one"]


def test_up_to_that_many_lines_all_are_shown_and_long_ones_are_cut():
    lines = [str(number) for number in range(MOST - 1)]
    shown = printed(run("\n".join([*lines, "x" * 10_000]))).splitlines()
    assert shown == [*lines, "x" * LONGEST + " …"]


def test_of_torchs_newer_names_for_what_works_nothing_is_said():
    def scattered(rank, size):
        piece = torch.empty(1)
        dist.reduce_scatter_tensor(piece, torch.ones(size))
        dist.all_gather_into_tensor(torch.empty(size), piece)
        warnings.warn("the function's own", FutureWarning, stacklevel=1)

    for printed_by in Ranks(2).run(scattered).printed:
        assert "the function's own" in printed_by and "deprecated" not in printed_by
