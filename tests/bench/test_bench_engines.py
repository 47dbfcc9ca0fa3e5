"""What the engines of two nodes cost: the split into start and submission, and the forecast."""

import pytest

from bench import engines
from bench.engines import Took


def test_the_start_is_what_a_small_class_takes_beyond_its_submissions():
    start, each = Took(20.0, 3.0, 30.0), Took(0.5, 0.25, 1.5)

    def of(count):
        return Took(*(a + count * b for a, b in zip(start, each, strict=True)))

    found = engines.split(of(engines.SMALL), of(engines.SMALL + 8), 8)
    for one, right in zip(found, (start, each), strict=True):
        assert one == pytest.approx(right)
    assert found[1].engines == pytest.approx(1.25)


@pytest.mark.parametrize(
    ("count", "number", "seconds"),
    [
        (1, 1, 20 + 2 + 2),
        (1000, 4, 20 + 2 + 500),
        (1000, 8, 20 + 2 + 250),
        (1000, 800, 20 + 2 + 100),  # the head enters one after the other
    ],
)
def test_a_class_takes_the_engines_time_or_the_heads(count, number, seconds):
    assert engines.forecast(count, number, start=20, head=0.1, each=2) == pytest.approx(seconds)
