"""The inputs of a case are the same on every processor: references are recorded on one of them."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__ as dispatched
from numpy._core._multiarray_umath import __cpu_features__ as features

from distlab.exercises.inputs import portable
from grader.paths import ROOT

NEEDED = """
from distlab import course
from grader import coursedir

for lab in course.LABS:
    coursedir.need_references(lab)
"""
VECTORS = [name for name in dispatched if features.get(name)]


@pytest.mark.parametrize("without", [[], VECTORS], ids=["as it is", "without vector units"])
def test_the_references_are_those_of_the_inputs_that_this_machine_makes(without):
    env = {**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(without)}
    if without:
        env["ATEN_CPU_CAPABILITY"] = "default"
    subprocess.run([sys.executable, "-c", NEEDED], cwd=ROOT, env=env, check=True, timeout=300)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_a_power_leaves_in_its_last_bits_is_not_in_an_input(dtype):
    values = 10 ** np.random.default_rng(0).uniform(-9, 0, 10_000)
    made = portable(values, dtype)
    assert made.dtype == dtype and np.allclose(made, values, rtol=1e-7, atol=0)
    for towards in (0, np.inf):  # the next floats of 64 bits
        assert (portable(np.nextafter(values, towards), dtype) == made).all()
