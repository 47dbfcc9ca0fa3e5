"""Which answers are judged on a machine that brings its own PyTorch."""

from grader import collected
from grader.gpu.steps import answers, places

LAB = "11-long-sequences-and-experts"


def test_what_needs_a_newer_pytorch_is_left_out_by_name(monkeypatch):
    monkeypatch.setattr(answers.torch, "__version__", "2.13.0+cpu")
    assert not answers.left_out(LAB)
    of_all = [name for name, *_ in answers.every(LAB)]
    monkeypatch.setattr(answers.torch, "__version__", "2.11.0+cu130")
    left = answers.left_out(LAB)
    assert f"{LAB}/swap_shards/right_list.py: PyTorch 2.13" in left
    names = {one.rpartition(":")[0] for one in left}
    assert [name for name in of_all if name not in names] == [
        name for name, *_ in answers.every(LAB)
    ]


def test_answers_without_tensors_come_last():
    lab = "02-toy-model"
    of_all = [(name, exercise) for name, exercise, _ in answers.every(lab)]
    alone = [len(places.of(one)) == 1 for name, one in of_all if "the solution" not in name]
    assert alone == sorted(alone) and any(alone) and not all(alone)


def test_an_answer_that_names_no_pytorch_runs_with_any():
    plain = next(collected.answers(LAB, "route"))
    assert not plain.torch and plain.runs_with("2.11.0+cu130") and plain.runs_with("3.0")
