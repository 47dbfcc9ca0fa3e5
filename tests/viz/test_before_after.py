"""What each rank held before and after a collective, as a table."""

import numpy as np

from distlab.viz.before_after import COLOURS, BeforeAfter


class Run(list):
    def timeline(self):
        class Picture:
            def _repr_html_(self):
                return "<svg/>"

        return Picture()


def test_a_number_has_its_ranks_colour_and_a_sum_is_grey():
    page = BeforeAfter(Run([(np.array([1.0, 2.0]), np.array([11.0])), (np.array([10.0]), None)]))
    rows = page._repr_html_().split("<tr>")[2:]
    assert rows[0].count(COLOURS[0]) == 2 and rows[0].count("#BBBBBB") == 1
    assert COLOURS[1] in rows[1] and "nothing" in rows[1]
    assert page._repr_html_().endswith("</table><svg/>")
