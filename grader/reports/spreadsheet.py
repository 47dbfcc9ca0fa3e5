"""Cells of a table that no spreadsheet takes for formulas."""

from __future__ import annotations

# what spreadsheets take for the beginning of a formula, also behind a quote of their own
# (https://owasp.org/www-community/attacks/CSV_Injection)
_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def inert(said: str) -> str:
    """The text, with an apostrophe in front where a spreadsheet would take it for a formula."""
    return f"'{said}" if said.startswith(_FORMULA) else said
