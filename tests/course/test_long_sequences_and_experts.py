"""Lab 11: what its rules and harnesses see, what its pictures show, and its scripts."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
import torch

from distlab import course
from distlab.course.lab11_long_sequences_and_experts import (
    attention,
    dispatch_combine,
    gantt,
    merge_attention,
    mesh,
    returning,
    ring_attention,
)
from distlab.exercises.exercise import Case, Look
from grader import coursedir

LAB = "11-long-sequences-and-experts"
MERGE = course.find("merge_attention")


def look(exercise, case, returned):
    """A finished run in which every rank returned its part of `returned`, nothing recorded."""
    inputs = exercise.inputs(case)
    return Look(exercise, case, inputs, returned, returned, [])


def merged(case, **wrong):
    """What the rule of merge_attention says of the exact result, changed by so much."""
    given = MERGE.inputs(case)[0]
    o, lse = (part.astype(given["o1"].dtype) for part in merge_attention._exact(*given.values()))
    o, lse = o + wrong.get("o", 0), lse + wrong.get("lse", 0)
    return merge_attention._too_far(look(MERGE, case, [{"returned": (o, lse)}]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [1.0, 10_000.0])
def test_exactly_merged_attention_is_near_enough(dtype, scale):
    assert merged(Case(1, 5, {"shape": [3, 16], "scale": scale, "dtype": dtype})) is None


def test_what_is_allowed_grows_with_the_lse():
    small, large = ({"shape": [64], "scale": scale} for scale in (1.0, 10_000.0))
    assert "o off by" in merged(Case(1, 5, small), o=5e-5)
    assert "lse off by" in merged(Case(1, 5, small), lse=5e-5)
    assert "off by" in merged(Case(1, 5, large), o=5e-3)
    double = {"shape": [64], "scale": 1.0, "dtype": "float64"}
    assert merged(Case(1, 5, double), o=5e-12) is None
    assert merged(Case(1, 5, double), o=5e-11)


def test_rows_without_keys_merge_to_zero_and_minus_infinity():
    case = Case(1, 5, {"shape": [8], "empty": True})
    given = MERGE.inputs(case)[0]
    o, lse = merge_attention._exact(*given.values())
    without = np.isneginf(given["lse1"]) & np.isneginf(given["lse2"])
    assert without.any() and np.isneginf(lse[without]).all() and not o[without].any()
    assert np.isfinite(lse[~without]).all()


def test_every_case_of_merge_attention_keeps_to_the_lse_that_its_contract_names():
    for case in coursedir.cases(MERGE):
        given = MERGE.inputs(case)[0]
        finite = np.concatenate([given[k][np.isfinite(given[k])] for k in ("lse1", "lse2")])
        assert np.abs(finite).max(initial=0) <= 10_000


def test_exact_attention_is_torchs():
    q, k, v = np.random.default_rng(0).standard_normal((3, 2, 6, 4))
    expected = torch.nn.functional.scaled_dot_product_attention(
        *map(torch.from_numpy, (q, k, v)), is_causal=True
    )
    visible = np.tri(6, dtype=bool)
    np.testing.assert_allclose(attention.attended(q, k, v, visible), expected, rtol=1e-10)


def test_only_tensors_that_are_made_count_and_views_do_not():
    x = torch.ones(4, 4)
    with ring_attention._made(4) as sizes:
        x.t(), x.view(16), x.unsqueeze(0).expand(10, 4, 4), x[1:], x.view(torch.uint8)
        x.add_(1)
    assert sizes == []
    with ring_attention._made(4) as sizes:
        x.unsqueeze(0).expand(10, 4, 4).contiguous()
        x @ x
        torch.empty(64, dtype=torch.uint8)
    assert sizes == [160, 16, 16]


def test_every_case_of_ring_attention_leaves_room_for_a_block_of_keys_and_values():
    for case in coursedir.cases(course.find("ring_attention")):
        heads, n, d = (case.get(*name) for name in (("heads", 2), ("n", 4), ("d", 2)))
        assert n >= 2 * d, case
        assert case.size * n <= heads * n * n, f"no room to count all positions: {case}"


def test_large_tensors_are_shortened_and_small_ones_are_not():
    small, large = torch.arange(10), torch.arange(200_000).view(2, -1)
    assert returning.shortened(small) is small
    told = returning.shortened(large.t())
    assert told["shape"] == [100_000, 2]
    assert len(told["elements"]) == -(-200_000 // 1009)
    assert told["elements"][1] == large.t().reshape(-1)[1009]


def test_an_expert_counts_its_calls_and_refuses_other_shapes():
    expert = dispatch_combine._Expert(1, 3)
    tokens = torch.tensor([[3.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
    assert torch.equal(expert(tokens), dispatch_combine._output(tokens, 1))
    assert torch.equal(expert.rows(tokens), tokens.flip(0))
    with pytest.raises(ValueError, match=r"\(m, 3\), not \(6,\)"):
        expert(tokens.flatten())
    assert len(expert.given) == 1


def test_the_bytes_of_tokens_are_those_that_leave_and_those_that_go_back():
    exercise = course.find("dispatch_combine")
    case = Case(2, 1, {"tokens": [2, 3], "d": 4})
    run = look(exercise, case, [])
    run = dataclasses.replace(run, inputs=[
        {"tokens": np.zeros((2, 4), "float32"), "expert": np.array([1, -1])},
        {"tokens": np.zeros((3, 4), "float32"), "expert": np.array([0, 1, 1])},
    ])  # fmt: skip
    # rank 0 sends one token away and one guest back, rank 1 three (two of them stay) and three
    assert [dispatch_combine._bytes_of_tokens(run, r) for r in range(2)] == [2 * 16, 6 * 16]


def chart():
    busy = [gantt.Work(0, 1.0, 10.0, 10.1)], [gantt.Work(1, 1.0, 10.0, 10.2)]
    return gantt.Chart([*busy, [gantt.Work(2, 0, 10.1, 10.1)]])


def test_a_chart_knows_how_long_it_took_and_who_was_idle():
    assert chart().seconds == pytest.approx(0.2)
    assert chart().idle == pytest.approx(1 - 0.3 / 0.6)
    assert chart().amounts == [1.0, 1.0, 0]
    assert gantt.Chart([[], []]).idle == 0


def test_the_fastest_of_several_runs_is_chosen():
    slow, fast = ([gantt.Work(0, 1, 0.0, end)] for end in (2.0, 1.0))
    assert gantt.fastest([[slow, fast], [slow, fast]]).seconds == 1.0


def texts(axis):
    return [text.get_text() for text in axis.texts]


def test_a_chart_draws_a_box_for_each_piece_that_had_something_to_do():
    figure = gantt.compare({"one": chart(), "other": chart()}, "the rank")
    assert [texts(axis) for axis in figure.axes] == [["0", "1"]] * 2
    assert "one: 200 ms, 50% of it idle" in figure.axes[0].get_title(loc="left")
    assert "the rank" in figure.axes[1].get_xlabel()


def test_a_mesh_draws_who_shares_a_group_in_each_dimension():
    figure = mesh.draw({"dp": [1, 3], "tp": [2, 3]}, 4, 3, {"dp": "data"})
    (axis,) = figure.axes
    assert texts(axis) == ["1", "3", "2", "3"]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["data  dp", "tp  tp"]


@pytest.mark.slow  # torchrun imports torch in processes of its own
@pytest.mark.parametrize(
    ("script", "arguments", "told"),
    [
        ("attention.py", ["--lengths", "32", "64", "--repeats", "1"], "2 ranks, gloo, on cpu"),
        ("experts.py", ["--tokens", "16", "--repeats", "1"], "expert 0 favoured by 2"),
    ],
)
def test_the_script_runs_and_its_results_are_those_of_one_rank(script, arguments, told):
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2",
         str(coursedir.SOLUTIONS / LAB / script), *arguments],
        capture_output=True, text=True, timeout=180, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert told in done.stdout
    rows = [row for row in done.stdout.splitlines() if " ms" in row]
    assert len(rows) == 2 and all(float(row.split()[-1]) < 1e-4 for row in rows)
