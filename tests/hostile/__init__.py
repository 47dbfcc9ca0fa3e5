"""Hostile and broken submissions, graded together with honest ones: what each tries and what
happens. `python tests/hostile` prints the table.
"""
