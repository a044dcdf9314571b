"""Lines of a text file of any size, within limits: a line of reasonable length, few empty ones.

>>> import tempfile
>>> from pathlib import Path
>>> path = Path(tempfile.mkdtemp()) / "a.txt"
>>> _ = path.write_bytes(b"one\\n\\ntwo")
>>> with Source(path) as source:
...     print(list(numbered(source, "a table has one row a line")))
[(1, b'one\\n'), (2, b'\\n'), (3, b'two')]
"""

from __future__ import annotations

from collections.abc import Iterator

from layoutdm.errors import LayoutdmError
from layoutdm.formats import limits
from layoutdm.formats.files import Source
from layoutdm.formats.problems import Problems

TICK = 500  # lines between two looks at the progress
BLANK = 10_000  # empty lines in a row that are passed over
HOPELESS = 10_000  # bad lines in a row, after which nobody reads on


def numbered(source: Source, what: str) -> Iterator[tuple[int, bytes]]:
    """(number, line with its end); `what` says in messages how the file should look."""
    longest = limits.record_size()
    number = empty = 0
    while line := source.readline(longest):
        number += 1
        if number % TICK == 0:
            source.tick()
        if len(line) >= longest:
            raise limits.too_long(f"{source.path}, line {number}", what)
        empty = 0 if line.strip() else empty + 1
        if empty > BLANK:
            raise LayoutdmError(
                f"{source.path}, line {number}: the {BLANK:,} lines before it are empty; {what}"
            )
        yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
    source.tick()


def hopeless(path: object, number: int, problems: Problems) -> LayoutdmError:
    """The sentence about a file of which nothing but bad lines comes any more."""
    return LayoutdmError(
        f"{path}: {HOPELESS:,} bad lines in a row up to line {number:,}, so the rest was not read; "
        f"the first bad one is {problems.listed[0]}"
    )
