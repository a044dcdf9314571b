"""`layoutdm validate`: everything that is wrong with a file or folder."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from layoutdm.cli.convert import as_dict, counted
from layoutdm.cli.options import AsJson, InputFormat, ShowProgress, check_input
from layoutdm.cli.options import source as layouts_of
from layoutdm.errors import LayoutdmError


def validate(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="File or folder to check.")],
    source_format: InputFormat = None,
    as_json: AsJson = False,
    progress: ShowProgress = None,
) -> None:
    """Check every record and list all problems; exit code 1 if there are any.

    Examples:

      layoutdm validate instances.json

      layoutdm validate yolo_folder --from yolo

      layoutdm validate pages.jsonl --json | jq '.problems[].where'
    """
    from layoutdm import formats
    from layoutdm.cli.progress import reading

    check_input(source_format)
    source = layouts_of(source)
    problems = formats.Problems(skip=True)
    labels: Counter[str] = Counter()
    found = source_format
    with reading(source.name, progress) as bar:
        try:
            found = found or formats.detect(source)
            for layout in bar.count(formats.read(source, found, problems, bar.bytes)):
                labels.update(layout.labels)
        except LayoutdmError as error:  # the file as a whole: nothing after this can be read
            where, _, message = str(error).partition(": ")
            inside = where == str(source) or where.startswith((f"{source}, ", f"{source}/"))
            problems.report(*((where, message) if inside else (str(source), str(error))))
    if as_json:
        summary = {
            "source": str(source),
            "format": found,
            "valid": not problems.count,
            "layouts": bar.layouts,
            "elements": bar.elements,
            "labels": dict(labels),
        }
        print(json.dumps(summary | as_dict(problems), indent=2))
    else:
        for problem in problems.listed:
            print(problem)
        for reason, count in problems.removed.items():
            print(f"removed by the paper's filters: {count:,} {reason}")
        verdict = counted(problems.count, "problem") if problems.count else "no problems"
        print(
            f"{source} ({found or 'unknown format'}): {verdict}; "
            f"{counted(bar.layouts, 'good layout')}, {counted(bar.elements, 'element')}, "
            f"{counted(len(labels), 'label')}"
        )
    if problems.count:
        raise typer.Exit(1)
