"""What each rank held before and after a collective, as a table."""

import numpy as np
from bs4 import BeautifulSoup

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


def test_who_hears_the_table_hears_each_number_and_whose_it_is():
    page = BeforeAfter(Run([(np.array([1.0, 2.0]), np.array([11.0, 1.0]))]))
    row = BeautifulSoup(page._repr_html_(), "html.parser").find_all("tr")[1]
    assert row.get_text("|").split("|") == ["rank 0", "1", " ", "2", "11", " ", "1"]
    assert row.th["scope"] == "row"
