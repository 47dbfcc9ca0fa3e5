"""Run and judge answers: of a cell, of a notebook, of a submission."""
