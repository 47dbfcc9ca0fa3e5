"""Tests of labs whose frameworks need not be installed: they are skipped by name."""

import pytest

from distlab import course as labs


def here(lab, *more, id=None):
    """The parameters of a test that needs what the lab needs."""
    said = labs.missing(lab)
    return pytest.param(lab, *more, marks=pytest.mark.skipif(bool(said), reason=said), id=id or lab)
