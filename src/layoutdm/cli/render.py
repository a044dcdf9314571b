"""`layoutdm render`: pictures of layouts."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, Any

import typer

from layoutdm.cli.convert import say
from layoutdm.cli.options import InputFormat, OnError, check_choice, check_input, output_format
from layoutdm.cli.options import source as layouts_of
from layoutdm.errors import LayoutdmError
from layoutdm.formats.table import FORMATS, PICTURES, listed

if TYPE_CHECKING:
    from layoutdm.formats import Problems
    from layoutdm.formats.files import Progress
    from layoutdm.layout import Layout

_ENDINGS = listed(tuple(f".{name}" for name in PICTURES))
SUFFIXES = {end: format.name for format in FORMATS if format.picture for end in format.suffixes}


def render(
    source: Annotated[
        str, typer.Argument(metavar="SRC", help="File or folder of layouts, or `sample`.")
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help=f"File to write, named {_ENDINGS}; or a folder."),
    ],
    count: Annotated[
        int, typer.Option("--count", "-n", min=1, help="How many layouts at most.")
    ] = 24,
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="Draw the layouts at random with this seed, not the first."),
    ] = None,
    columns: Annotated[
        int | None, typer.Option("--columns", min=1, help="Columns of a contact sheet.")
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option("--mode", help="HTML of one layout: absolute (default) or grid."),
    ] = None,
    labels: Annotated[
        bool, typer.Option("--labels/--no-labels", help="Write labels into the boxes.")
    ] = True,
    names: Annotated[
        bool,
        typer.Option("--names", help="Write the elements' own names, where they have one."),
    ] = False,
    source_format: InputFormat = None,
    target_format: Annotated[
        str | None, output_format(f"{listed(PICTURES)}, when --out does not say.")
    ] = None,
    on_error: OnError = "raise",
) -> None:
    """Draw layouts: one as a picture, several as a contact sheet or a slide each.

    Without --seed the first layouts are drawn; with it, a random choice that the seed repeats.
    When --out is a folder, every layout gets a file of its own (say which kind with --to).

    Examples:

      layoutdm render sample --out sheet.png

      layoutdm render instances.json --out sheet.html --count 100 --seed 1

      layoutdm render screen.jsonl --count 1 --mode grid --out page.html

      layoutdm render layouts.jsonl --to svg --out pictures/
    """
    from layoutdm import formats
    from layoutdm.cli.progress import reading

    check_input(source_format, on_error)
    check_choice(target_format, PICTURES, "--to")
    check_choice(mode, ("absolute", "grid"), "--mode")
    kind = target_format or SUFFIXES.get(out.suffix.lower())
    if kind is None:
        raise LayoutdmError(
            f"{out}: the kind of picture is not clear; end the name with "
            f"{', '.join('.' + name for name in PICTURES)}, or give one of them with --to"
        )
    options: dict[str, Any] = {"labels": labels, "names": names}
    if mode is not None:
        if kind != "html":
            raise typer.BadParameter(f"is for html only, not {kind}", param_hint="--mode")
        options["mode"] = mode
    if columns is not None and kind not in ("pptx", "pdf"):
        options["columns"] = columns
    problems = formats.Problems(skip=on_error == "skip")
    with reading(source, show=None) as bar:
        layouts = bar.count(_read(source, source_format, problems, bar.bytes))
        chosen = choose(layouts, count, seed)
    if not chosen:
        why = f"; {problems.count:,} bad records were left out" if problems.count else ""
        raise LayoutdmError(f"{source}: holds no layout; it should hold at least one{why}")
    formats.write(chosen, out, kind, **options)
    say(problems)
    if mode == "grid":
        _say_overlaps(chosen)
    print(f"{out}: {len(chosen)} layout{'' if len(chosen) == 1 else 's'}")


def _say_overlaps(layouts: list[Layout]) -> None:
    """On stderr, what a grid cannot show well."""
    from layoutdm.pictures.html import overlap_note

    for layout in layouts:
        if note := overlap_note(layout):
            print(f"layout {layout.id}: {note}" if layout.id else note, file=sys.stderr)


def choose(layouts: Iterable[Layout], count: int, seed: int | None) -> list[Layout]:
    """The first `count`, or as many drawn evenly from all, kept in their order.

    >>> choose("abcdef", 2, None), len(choose("abcdef", 2, 7))
    (['a', 'b'], 2)
    """
    if seed is None:
        return list(islice(layouts, count))
    # Reservoir sampling: one pass, and only the chosen layouts are held in memory.
    random = Random(seed)
    kept: list[tuple[int, Layout]] = []
    for index, layout in enumerate(layouts):
        if len(kept) < count:
            kept.append((index, layout))
        elif (slot := int(random.random() * (index + 1))) < count:
            kept[slot] = (index, layout)
    return [layout for _, layout in sorted(kept, key=lambda pair: pair[0])]


def _read(
    source: str, format: str | None, problems: Problems, progress: Progress
) -> Iterator[Layout]:
    """All layouts of a file, a folder with split files, or a built-in set."""
    from layoutdm import formats
    from layoutdm.data.sources import find

    found = find(layouts_of(source), format)
    for paths in found.files.values():
        for path in paths:
            yield from formats.read(path, found.format, problems, progress)
