"""`layoutdm convert`: layouts from one format to another."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from layoutdm.cli.options import (
    AsJson,
    InputFormat,
    OnError,
    ShowProgress,
    check_choice,
    check_input,
    output_format,
)
from layoutdm.cli.options import source as layouts_of
from layoutdm.errors import LayoutdmError
from layoutdm.formats.table import WRITE, listed

if TYPE_CHECKING:
    from layoutdm.formats import Problems
    from layoutdm.layout import Layout

TO_HELP = f"{listed(WRITE)}."


def convert(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="File or folder to read.")],
    target: Annotated[
        Path, typer.Argument(metavar="DST", help="File or folder to write; - is standard output.")
    ],
    source_format: InputFormat = None,
    target_format: Annotated[str | None, output_format(TO_HELP)] = None,
    on_error: OnError = "raise",
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind", metavar="KIND", help="Label Studio only: annotations or predictions."
        ),
    ] = None,
    as_json: AsJson = False,
    progress: ShowProgress = None,
) -> None:
    """Convert layouts from one format to another.

    Formats are recognised from content and name; --from and --to override that. A DST that ends
    in .json becomes COCO. DST appears, or replaces an older file, only when all went well.

    Examples:

      layoutdm convert instances.json pages.jsonl.gz

      layoutdm convert pages.jsonl yolo_folder --to yolo

      layoutdm convert semantic_annotations.zip rico.jsonl.gz --from rico

      layoutdm convert export.json - --on-error skip | head -1
    """
    from layoutdm import formats
    from layoutdm.cli.progress import reading

    check_input(source_format, on_error)
    check_choice(target_format, formats.WRITE, "--to")
    source = layouts_of(source)
    check_choice(kind, ("annotations", "predictions"), "--kind")
    piped = str(target) == "-"
    if piped and as_json:
        raise typer.BadParameter("goes to standard output, as DST - does", param_hint="--json")
    written = target_format or ("jsonl" if piped else formats.detect_target(target))
    if kind and written != "labelstudio":
        raise typer.BadParameter(f"is for labelstudio only, not {written}", param_hint="--kind")
    problems = formats.Problems(skip=on_error == "skip")
    options = {"kind": kind} if kind else {}
    found = source_format or formats.detect(source)
    with reading(source.name, progress) as bar:
        layouts = formats.read(source, found, problems, bar.bytes)
        checked = _at_least_one(bar.count(layouts), problems, source)
        if piped:
            _to_stdout(checked, written, options)
        else:
            formats.write(checked, target, written, **options)
    summary = {
        "source": str(source),
        "target": str(target),
        "from": found,
        "to": written,
        "layouts": bar.layouts,
        "elements": bar.elements,
    }
    if as_json:
        print(json.dumps(summary | as_dict(problems), indent=2))
        return
    say(problems)
    print(
        f"{source} ({found}) -> {target} ({written}): "
        f"{counted(bar.layouts, 'layout')}, {counted(bar.elements, 'element')}",
        file=sys.stderr,
    )


def counted(number: int, thing: str) -> str:
    """A number with its noun: 1 layout, 1,200 layouts."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def as_dict(problems: Problems) -> dict[str, Any]:
    """What was left out, for a JSON summary."""
    return {
        "left_out": problems.count,
        "removed": dict(problems.removed),
        "problems": [{"where": p.where, "message": p.message} for p in problems.listed],
    }


def say(problems: Problems) -> None:
    """List on stderr what was left out, and why."""
    for reason, count in problems.removed.items():
        print(f"removed by the paper's filters: {count:,} {reason}", file=sys.stderr)
    if not problems.count:
        return
    print(f"left out {counted(problems.count, 'bad record')}:", file=sys.stderr)
    for problem in problems.listed:
        print(f"  {problem}", file=sys.stderr)
    hidden = problems.count - len(problems.listed)
    if hidden:
        print(f"  ... and {hidden:,} more", file=sys.stderr)


def _at_least_one(layouts: Iterable[Layout], problems: Problems, source: Path) -> Iterator[Layout]:
    """Pass layouts on; when every record was bad, stop before anything is replaced."""
    empty = True
    for layout in layouts:
        empty = False
        yield layout
    if empty and problems.count:
        raise LayoutdmError(
            f"{source}: nothing is left, since all records are bad; "
            f"the first of {problems.count:,}: {problems.listed[0]}"
        )


def _to_stdout(layouts: Iterable[Layout], written: str, options: dict[str, Any]) -> None:
    """Whole or not at all, as for a file: another program may act on half an answer."""
    from layoutdm import formats

    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / "layouts"
        formats.write(layouts, part, written, **options)
        if part.is_dir():
            raise typer.BadParameter(f"{written} is a folder; it needs a name", param_hint="DST")
        with part.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.flush()
