"""Texts in cells of a table that spreadsheet programs must not take for formulas.

>>> to_cell("=1+1"), from_cell("'=1+1"), to_cell("it's"), from_cell(to_cell("'=x"))
("'=1+1", '=1+1', "it's", "'=x")

A program that opens a CSV file runs what starts with one of these characters. A quote in front of
it, which spreadsheets hide, makes it a text; reading takes the quote away again.
"""

from __future__ import annotations

import re

# Also the wide forms of the four signs, which some programs take for the same.
_FORMULA = re.compile("'*[=+\\-@\t\r\uff1d\uff0b\uff0d\uff20]")


def to_cell(text: str) -> str:
    """A text as it is written to a cell."""
    return f"'{text}" if _FORMULA.match(text) else text


def from_cell(cell: str) -> str:
    """The text that a cell holds; the inverse of `to_cell`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
