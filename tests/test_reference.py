"""References come back as they were written, and only for the inputs they were made with."""

import dataclasses

import numpy as np
import pytest

from distlab import course
from distlab.exercises import Case
from distlab.reference import NoReference, References, write

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
