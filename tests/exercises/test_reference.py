"""References come back as they were written, and only for the inputs they were made with."""

import dataclasses

import numpy as np
import pytest
from safetensors import numpy as safe

from distlab import course
from distlab.exercises.exercise import BLOCK, LARGE, Case
from distlab.exercises.reference import NoReference, References, released, write
from grader import paths

EXCHANGE = course.find("01-message-passing/exchange")
CASE = Case(2, 1)
VALUES = [{"returned": np.ones(3, "float32"), "loss": 0.1, "who": (0, None), "set": {"a"}}] * 2


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, "lab", {"device": "a CPU"}, [(EXCHANGE, CASE, VALUES)])
    return tmp_path


def test_outputs_come_back_as_they_were(folder):
    references = References(folder, "lab")
    back = references(EXCHANGE, CASE)
    assert np.array_equal(back[1]["returned"], VALUES[1]["returned"])
    assert back[0]["loss"] == 0.1 and back[0]["set"] == {"a"}
    assert references.recorded == {"device": "a CPU"}


def test_writing_again_gives_the_same_bytes(folder, tmp_path_factory):
    again = tmp_path_factory.mktemp("again")
    write(again, "lab", {"device": "a CPU"}, [(EXCHANGE, CASE, VALUES)])
    for name in ("lab.json", "lab.safetensors"):
        assert (again / name).read_bytes() == (folder / name).read_bytes()


def test_of_a_large_output_that_repeats_itself_each_block_is_kept_once(tmp_path):
    block = np.arange(2 * BLOCK, dtype="float32")
    value = np.tile(block, 40).reshape(80, BLOCK)
    write(tmp_path, "lab", {}, [(EXCHANGE, CASE, [value, -value])])
    assert (tmp_path / "lab.safetensors").stat().st_size < 5 * block.nbytes
    back = References(tmp_path, "lab")(EXCHANGE, CASE)
    assert np.array_equal(back[0], value) and np.array_equal(back[1], -value)


def test_a_large_output_that_does_not_is_kept_whole(tmp_path):
    value = np.random.default_rng(0).standard_normal((80, BLOCK)).astype("float32")
    write(tmp_path, "lab", {}, [(EXCHANGE, CASE, [value, value])])
    assert np.array_equal(References(tmp_path, "lab")(EXCHANGE, CASE)[0], value)


def test_large_inputs_repeat_their_first_block():
    small, large = (
        EXCHANGE.inputs(Case(2, 1, {"shape": [n]}))[1]["tensor"] for n in (LARGE, LARGE + BLOCK)
    )
    assert not np.array_equal(small[:BLOCK], small[BLOCK : 2 * BLOCK])
    assert np.array_equal(large, np.tile(large[:BLOCK], LARGE // BLOCK + 1))


def test_a_case_that_was_not_recorded_says_what_to_do(folder):
    with pytest.raises(NoReference, match="distlab reference record"):
        References(folder, "lab")(EXCHANGE, Case(4, 9))


def test_a_reference_of_other_inputs_is_no_reference(folder):
    other = dataclasses.replace(EXCHANGE, make=lambda case: [{"tensor": np.zeros(1)}] * case.size)
    with pytest.raises(NoReference, match="other"):
        References(folder, "lab")(other, CASE)


def test_a_missing_file_says_what_to_do(tmp_path):
    with pytest.raises(NoReference, match="distlab reference record"):
        References(tmp_path, "lab")


def test_files_of_two_recordings_say_what_to_do(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    write(other, "lab", {}, [(EXCHANGE, CASE, [np.zeros(3, "float32")] * 2)])
    (folder / "lab.safetensors").write_bytes((other / "lab.safetensors").read_bytes())
    with pytest.raises(NoReference, match="not of one recording: run `distlab reference record`"):
        References(folder, "lab")(EXCHANGE, CASE)


@pytest.mark.parametrize("content", ["{}", "[]", "3", '{"cells": []}', '{"exercises": []}', ""])
def test_another_file_says_what_to_do(folder, content):
    (folder / "lab.json").write_text(content)
    with pytest.raises(NoReference, match="lab.json cannot be read"):
        References(folder, "lab")


@pytest.mark.parametrize("how", ["damaged", "of another version", "of two recordings"])
def test_a_student_is_told_what_a_student_can_do(tmp_path, how):
    """Who has references of another version of the course is not to record any."""
    write(tmp_path, "reference", {}, [(EXCHANGE, CASE, [np.zeros(3, "float32")] * 2)])
    case = CASE
    if how == "damaged":
        (tmp_path / "reference.json").write_text("{")
    elif how == "of another version":
        case = Case(4, 9)
    else:
        (tmp_path / "reference.safetensors").write_bytes(safe.save({}))
    with pytest.raises(NoReference, match=f"`distlab fetch {EXCHANGE.lab} {tmp_path}`") as raised:
        released(tmp_path, EXCHANGE.lab, "")(EXCHANGE, case)
    assert "record`" not in str(raised.value)


def test_an_author_is_told_to_record():
    folder = paths.SOLUTIONS / EXCHANGE.lab
    with pytest.raises(NoReference, match=f"run `distlab reference record {EXCHANGE.lab}`"):
        released(folder, EXCHANGE.lab, "")(EXCHANGE, Case(4, 9, {"shape": [1]}))
