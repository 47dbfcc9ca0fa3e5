"""`check` uses the student's own inputs where their file is, and says what it makes of others."""

import json
import os
import shutil
import sys

import cloudpickle
import pytest
import torch
import torch.distributed as dist

from distlab import check, course
from distlab.checking import own_inputs
from distlab.checking.check import CheckFailed
from distlab.checking.check_notebook import check_notebook
from distlab.processes import payload
from grader import collected, coursedir, secret
from grader.variants import variant as variants

cloudpickle.register_pickle_by_value(sys.modules[__name__])
LAB = "01-message-passing"
EXCHANGE = course.exercises(LAB)["exchange"]
OWN = secret.Secret(b"a course's own secret, 32 bytes.", None)


def exchange(rank, size, tensor):
    received = torch.empty_like(tensor)
    for request in [dist.isend(tensor, rank ^ 1), dist.irecv(received, rank ^ 1)]:
        request.wait()
    return received


def swapped(case):
    """What comes of a right answer, by rank."""
    tensors = [inputs["tensor"] for inputs in EXCHANGE.inputs(case)]
    (returned, kept) = coursedir.reference(EXCHANGE, EXCHANGE.visible[0])[0]
    return [{returned: tensors[rank ^ 1], kept: tensors[rank]} for rank in range(case.size)]


def packed(student="ada", lab=LAB, cases=None):
    cases = cases or variants.visible(variants.variant(LAB, student, OWN), EXCHANGE)
    return own_inputs.packed(student, lab, {}, [(EXCHANGE, c, swapped(c)) for c in cases])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of a notebook, in which somebody works."""
    for name in ("reference.json", "reference.safetensors"):
        shutil.copy(coursedir.LABS / LAB / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys.modules["distlab.checking.check"], "_references", {})
    monkeypatch.delenv("JUPYTERHUB_USER", raising=False)
    monkeypatch.delenv(own_inputs.VARIABLE, raising=False)
    return tmp_path


def put(folder, text):
    (folder / own_inputs.NAME).write_text(text)


def table(student):
    """What a student's visible cases expect, by size and rank."""
    cases = variants.visible(variants.variant(LAB, student, OWN), EXCHANGE)
    expected = {case.size: [next(iter(out.values())) for out in swapped(case)] for case in cases}
    return {(size, r): some[r].tolist() for size, some in expected.items() for r in range(size)}


def test_a_right_answer_passes_with_own_inputs_and_without(folder, capsys):
    check(exchange)
    assert "own" not in capsys.readouterr().out
    put(folder, packed())
    check(exchange)
    assert "These were ada's own inputs." in capsys.readouterr().out


def test_a_classmates_hard_coded_outputs_fail(folder, capsys):
    answers, right = table("ben"), exchange

    def by_heart(rank, size, tensor):
        right(rank, size, tensor)
        return torch.tensor(answers[size, rank]).to(tensor.dtype).reshape(tensor.shape)

    put(folder, packed("ben"))
    check(by_heart, "exchange")  # what was copied is right for whom it was copied from
    put(folder, packed("ada"))
    with pytest.raises(CheckFailed) as failed:
        check(by_heart, "exchange")
    assert failed.value.verdict.status == "wrong"
    assert "ada's own inputs" in capsys.readouterr().out


def test_a_classmates_file_is_named_and_not_used(folder, capsys, monkeypatch):
    monkeypatch.setenv("JUPYTERHUB_USER", "ada")
    put(folder, packed("ben"))
    check(exchange)
    said = "own-inputs.json is ben's, not yours (ada). The lab's usual inputs are used."
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("me", "other"), [("strasse", "straße"), ("ada", "Ada"), ("jos\u00e9", "jose\u0301")]
)
def test_another_spelling_of_ones_name_is_a_classmate(folder, capsys, monkeypatch, me, other):
    monkeypatch.setenv("JUPYTERHUB_USER", me)
    put(folder, packed(other))
    assert own_inputs.found(LAB, folder)[0] is None
    check(exchange)
    assert f"not yours ({me}). The lab's usual inputs are used." in capsys.readouterr().out


def test_the_hubs_file_comes_before_the_one_beside_the_notebook(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTERHUB_USER", "ada")
    kept = tmp_path / "hub" / "ada" / LAB
    kept.mkdir(parents=True)
    monkeypatch.setenv(own_inputs.VARIABLE, f"/nowhere:{tmp_path / 'hub'}")
    put(kept, packed("ada"))
    put(folder, packed("ben"))
    own, said = own_inputs.found(LAB, folder)
    assert own.student == "ada" and said == ""


EVERY = [one for lab in course.LABS for one in course.exercises(lab).values()]


@pytest.mark.parametrize("exercise", EVERY, ids=lambda one: one.id)
def test_what_is_handed_out_has_the_inputs_that_it_was_made_of(tmp_path, exercise):
    """In their order too: a formula's parameters are its arguments."""
    cases = variants.visible(variants.variant(exercise.lab, "ada", OWN), exercise)
    text = own_inputs.packed(
        "ada", exercise.lab, {}, [(exercise, case, [0.0] * case.size) for case in cases]
    )
    put(tmp_path, text)
    read = own_inputs.read(tmp_path / own_inputs.NAME).cases[exercise.name]
    for was, now in zip(cases, read, strict=True):
        assert list(now.params) == list(was.params) and now == was
        for one, other in zip(exercise.inputs(was), exercise.inputs(now), strict=True):
            assert list(one) == list(other) and payload.encode(one) == payload.encode(other)


def changed(**fields):
    return json.dumps({**json.loads(packed()), **fields})


def whole(about):
    """With the digest that goes with what was changed."""
    return json.dumps({**about, "digest": own_inputs._digest(about)})


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", '"x"', "{}", packed()[:-200], changed(student="ben"),
        changed(digest=""), "\udcff".encode("utf-8", "surrogateescape").hex(),
        whole({**json.loads(packed()), "tensors": "!"}),
        whole({**json.loads(packed()), "tensors": "AAAA"}),
        whole({**json.loads(packed()), "cases": {"exchange": [1]}}),
        whole({**json.loads(packed()), "cases": 3}), "[" * 200_000,
        '{"format": ' * 100_000 + "1" + "}" * 100_000,
    ],
)  # fmt: skip
def test_a_damaged_file_is_told_and_the_usual_inputs_are_used(folder, text):
    put(folder, text)
    own, said = own_inputs.found(LAB, folder)
    assert own is None
    assert said == "own-inputs.json is damaged: fetch it again. The lab's usual inputs are used."


def test_a_file_of_a_form_that_is_not_this_ones_is_told_apart_from_a_damaged_one(folder):
    """The first form had formulas' arguments in another order."""
    put(folder, changed(format=1))
    own, said = own_inputs.found(LAB, folder)
    assert own is None and "of another version of the course: fetch it again" in said


def test_a_file_that_is_not_text_is_damaged(folder):
    (folder / own_inputs.NAME).write_bytes(b"\xff\xfe\x00")
    assert "damaged" in own_inputs.found(LAB, folder)[1]


def test_a_folder_of_that_name_is_passed_over(folder):
    (folder / own_inputs.NAME).mkdir()
    assert own_inputs.found(LAB, folder) == (None, "")


def test_a_pipe_of_that_name_is_not_waited_for(folder):
    os.mkfifo(folder / own_inputs.NAME)
    assert own_inputs.found(LAB, folder) == (None, "")


def test_inputs_that_would_not_fit_in_memory_are_not_made(folder):
    about = json.loads(packed())
    about["cases"]["exchange"][0]["params"] = {"shape": [1 << 46]}
    about["references"]["exercises"]["exchange"] = {}
    put(folder, whole(about))
    asked, reference, said = own_inputs.asked(EXCHANGE, folder)
    assert asked is EXCHANGE and reference is None and "does not fit exchange" in said


def test_another_labs_file_is_told(folder):
    put(folder, packed(lab="04-ring-allreduce"))
    assert "belongs to 04-ring-allreduce" in own_inputs.found(LAB, folder)[1]


@pytest.mark.parametrize("how", ["fewer cases", "another size", "other references", "no exercise"])
def test_a_file_of_another_version_of_the_lab_is_told_and_not_used(folder, how):
    cases = variants.visible(variants.variant(LAB, "ada", OWN), EXCHANGE)
    about = json.loads(packed(cases=cases[:1] if how == "fewer cases" else None))
    if how == "another size":
        about["cases"]["exchange"][0]["size"] += 2
    if how == "other references":
        about["cases"]["exchange"][0]["entropy"] = "00" * 16
    if how == "no exercise":
        del about["cases"]["exchange"]
    put(folder, whole(about))
    asked, reference, said = own_inputs.asked(EXCHANGE, folder)
    assert asked is EXCHANGE and reference is None
    assert said.startswith("own-inputs.json does not fit exchange as it is now: fetch it again.")


def test_no_hidden_case_is_ever_packed():
    (case, *_) = variants.hidden(variants.variant(LAB, "ada", OWN), EXCHANGE)
    with pytest.raises(ValueError, match="hidden"):
        packed(cases=[case])


@pytest.mark.slow  # starts a forkserver of its own
def test_a_notebook_is_checked_with_own_inputs(folder):
    solution = collected.source_of(coursedir.solution(LAB), "exchange")
    path = folder / course.notebook_name(LAB)
    path.write_text(json.dumps(collected.handed_in(LAB, exchange=solution)))
    put(folder, packed())
    verdicts = {v.exercise.name: v for v in check_notebook(path)}
    assert verdicts["exchange"].status == "passed"
    assert verdicts["exchange"].exercise.visible[0].entropy  # not everybody's
