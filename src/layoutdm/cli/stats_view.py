"""What `layoutdm stats` prints: tables that also read well in a file or another program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from io import StringIO
from typing import TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from layoutdm.data.figures import by_count, percent, split_table
from layoutdm.data.report import Report
from layoutdm.data.statistics import Statistics
from layoutdm.pictures.palette import scheme

BAR = 24  # characters


def show(report: Report, file: TextIO) -> None:
    """Print the whole report."""
    fancy = (file.encoding or "").lower().replace("-", "").startswith("utf")
    if file.isatty():
        _print(report, Console(file=file, highlight=False), fancy)
        return
    # Without a terminal to fit in, a table takes the width it needs and no blanks at line ends.
    text = StringIO()
    _print(report, Console(file=text, highlight=False, width=120), fancy)
    file.writelines(line.rstrip() + "\n" for line in text.getvalue().splitlines())


def _print(report: Report, console: Console, fancy: bool) -> None:
    total = report.total
    head = f"{total.layouts:,} layouts, {total.elements:,} elements, {len(total.labels)} labels"
    console.print(Text.assemble((report.name, "bold"), "  ", head))
    console.print(Text(report.note, style="dim"))
    console.print()
    console.print(_splits(report, fancy))
    console.print(_labels(total, fancy))
    console.print(_lengths(total, fancy))
    for line in _remarks(report):
        console.print(Text(line))


def _table(title: str, fancy: bool) -> Table:
    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD if fancy else box.ASCII2,
        pad_edge=False,
    )


def _splits(report: Report, fancy: bool) -> Table:
    table = _table("Splits", fancy)
    headings, rows = split_table(report)
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="right" if index else "left")
    for name, *cells in rows:
        table.add_row(Text(name), *cells)
    return table


def _labels(total: Statistics, fancy: bool) -> Table:
    table = _table("Labels", fancy)
    table.add_column("label", overflow="fold")
    for heading in ("elements", "share"):
        table.add_column(heading, justify="right")
    table.add_column("", no_wrap=True, min_width=BAR)
    for heading in ("in layouts", "mean size"):
        table.add_column(heading, justify="right")
    most = max((stats.elements for stats in total.labels.values()), default=0)
    colours = scheme(total.labels)
    for label, stats in by_count(total):
        table.add_row(
            Text(label),
            f"{stats.elements:,}",
            percent(stats.elements, total.elements),
            Text(_bar(stats.elements, most, fancy), style=colours.colour(label)),
            percent(stats.layouts, total.layouts),
            f"{stats.mean_width:.3f} {'×' if fancy else 'x'} {stats.mean_height:.3f}",
        )
    return table


def _lengths(total: Statistics, fancy: bool) -> Table:
    """Layouts by number of elements; a long tail is gathered in steps."""
    table = _table("Elements per layout", fancy)
    for heading in ("elements", "layouts", "share"):
        table.add_column(heading, justify="right")
    table.add_column("", no_wrap=True, min_width=BAR)
    rows = gathered(total.lengths)
    most = max((count for _, count in rows), default=0)
    for name, count in rows:
        share = percent(count, total.layouts)
        table.add_row(name, f"{count:,}", share, _bar(count, most, fancy))
    return table


def gathered(lengths: Mapping[int, int], rows: int = 30) -> list[tuple[str, int]]:
    """The histogram in at most about this many rows.

    >>> gathered({1: 5, 3: 2})
    [('1', 5), ('2', 0), ('3', 2)]
    >>> gathered({1: 5, 90: 2}, rows=3)
    [('1-30', 5), ('31-60', 0), ('61-90', 2)]
    """
    if not lengths:
        return []
    first, last = min(lengths), max(lengths)
    step = -(-(last - first + 1) // rows)
    result = []
    for start in range(first, last + 1, step):
        stop = min(start + step - 1, last)
        count = sum(lengths.get(n, 0) for n in range(start, stop + 1))
        result.append((str(start) if start == stop else f"{start}-{stop}", count))
    return result


def _bar(count: int, most: int, fancy: bool) -> str:
    """A bar to an eighth of a character; anything above nothing shows."""
    if not count:
        return ""
    if not fancy:
        return "#" * max(1, round(BAR * count / most))
    whole, part = divmod(max(1, round(8 * BAR * count / most)), 8)
    return "█" * whole + " ▏▎▍▌▋▊▉"[part].strip()


def _remarks(report: Report) -> Iterator[str]:
    outside = report.total.outside_paper
    if report.filtered:
        yield "The paper's filters are applied."
    elif outside:
        kept = report.total.layouts - sum(outside.values())
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in outside.items())
        yield f"The paper's filters would keep {kept:,} layouts and remove: {reasons}."
    else:
        yield "The paper's filters would remove nothing."
    if report.removed:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in report.removed.items())
        yield f"Left out: {reasons}."
