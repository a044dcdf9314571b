"""`layoutdm tidy`: layouts from anywhere, with what is nearly equal made equal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from layoutdm.cli.options import InputFormat, OnError, check_input, output_format
from layoutdm.cli.options import source as layouts_of

if TYPE_CHECKING:
    from layoutdm.layout import Layout


def tidy(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="File or folder to read.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="File or folder to write.")],
    source_format: InputFormat = None,
    target_format: Annotated[
        str | None, output_format("Format of OUT, when its name does not say.")
    ] = None,
    margin: Annotated[
        float,
        typer.Option("--margin", min=0.0, max=0.2, help="What differs by less becomes equal."),
    ] = 0.015,
    most: Annotated[
        float, typer.Option("--most", min=0.0, max=0.2, help="No edge moves by more.")
    ] = 0.02,
    on_error: OnError = "raise",
) -> None:
    """Make edges, centres, sizes and gaps that are nearly equal equal.

    Values are shares of the canvas. Nothing moves by more than --most, and no two boxes overlap
    that did not.

    Examples:

      layoutdm tidy draft.json tidy.json

      layoutdm tidy layouts.jsonl tidy.svg --margin 0.01
    """
    from layoutdm.formats import read, write
    from layoutdm.formats.problems import Problems
    from layoutdm.settle import tidy as tidied

    check_input(source_format, on_error)
    count, problems = 0, Problems(skip=on_error == "skip")

    def all_of_them() -> Iterator[Layout]:
        nonlocal count
        for layout in read(layouts_of(source), source_format, problems):
            count += 1
            yield tidied(layout, margin, most)

    write(all_of_them(), target, format=target_format)
    print(f"wrote {count:,} layouts to {target}", file=sys.stderr)
