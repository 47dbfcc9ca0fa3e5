"""The course's own steps in nbgrader's conversions; `nbgrader_config.py` names them."""

from __future__ import annotations

from nbgrader import preprocessors as nbgrader


class ClearSolutions(nbgrader.ClearSolutions):
    """nbgrader's own, with a stub that says which exercise is still to do."""

    def preprocess_cell(self, cell, resources, cell_index):
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        self.code_stub = {"python": f'raise NotImplementedError("TODO {name}")'}
        return super().preprocess_cell(cell, resources, cell_index)
