"""Verdicts as people read them: pages, tables, CSV."""
