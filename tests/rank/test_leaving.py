"""What a run has left in its rank is undone, but for what the next one cannot do again."""

import sys
import warnings

import pytest

from distlab.rank import leaving

LIBRARY = """
import warnings
warnings.filterwarnings("ignore", message="known")
warnings.simplefilter("ignore", FutureWarning, append=True)
with warnings.catch_warnings():
    warnings.simplefilter("error")
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A module that nothing has imported yet."""
    (tmp_path / "adds_filters.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(tmp_path)
    with warnings.catch_warnings():
        yield
    sys.modules.pop("adds_filters", None)


def test_filters_of_warnings_that_a_module_adds_at_its_import_stay_with_it(library):
    """It stays imported: the next run would be warned of what this one was not."""
    before = list(warnings.filters)
    with leaving.put_back():
        warnings.simplefilter("error")
        import adds_filters  # noqa: F401

        warnings.filterwarnings("once", message="mine")
    first, *rest, last = warnings.filters
    assert (first[0], first[1].pattern, last[0], last[2]) == (
        "ignore", "known", "ignore", FutureWarning,
    )  # fmt: skip
    assert rest == before and warnings._add_filter.__module__ == "warnings"


def test_filters_that_a_function_adds_end_with_it():
    before = list(warnings.filters)
    with leaving.put_back():
        warnings.simplefilter("error")
    assert list(warnings.filters) == before
