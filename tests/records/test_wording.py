"""Operations and amounts in words and short labels."""

import pytest

from distlab.records.wording import size_text


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [
        (0, "0 B"), (4, "4 B"), (999, "999 B"), (1_000, "1 kB"), (1_536, "1.54 kB"),
        (999_499, "999 kB"), (999_500, "1 MB"), (999_600, "1 MB"), (4_500_000, "4.5 MB"),
        (999_999_999, "1 GB"), (123_456_789_012_345, "123457 GB"),
    ],
)  # fmt: skip
def test_bytes_are_told_in_a_unit_that_leaves_three_digits(nbytes, text):
    assert size_text(nbytes) == text
