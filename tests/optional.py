"""Tests of labs whose frameworks need not be installed: they are skipped by name."""

import pytest

from distlab import course


def here(lab, *more, id=None, marks=()):
    """The parameters of a test that needs what the lab needs."""
    said = course.missing(lab)
    marks = [pytest.mark.skipif(bool(said), reason=said), *marks]
    marks += [pytest.mark.frameworks] * bool(course.needs(lab))
    return pytest.param(lab, *more, marks=marks, id=id or lab)
