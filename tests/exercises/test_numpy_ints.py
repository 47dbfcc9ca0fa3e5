"""NumPy's ints and bools are taken for Python's own."""

import numpy as np

from distlab.exercises.numpy_ints import as_plain


def test_numbers_in_containers_become_pythons_own_and_others_stay():
    counts = [np.int64(3), (np.uint8(4), np.bool_(True))]
    plain = as_plain({"counts": counts, "mean": np.float64(2)})
    assert plain == {"counts": [3, (4, True)], "mean": 2.0}
    assert type(plain["counts"][0]) is int and plain["counts"][1][1] is True
    assert type(plain["mean"]) is np.float64
    assert type(as_plain(np.arange(1))) is np.ndarray


def test_what_holds_itself_or_is_nested_deeply_takes_no_time():
    itself: list = [np.int64(1)]
    itself.append(itself)
    assert as_plain(itself)[0] == 1
    nested: list = []
    for _ in range(100):
        nested = [nested, nested]
    assert len(as_plain(nested)) == 2
