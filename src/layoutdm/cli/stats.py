"""`layoutdm stats`: a data set in numbers, as tables, as JSON or as a page with plots."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from layoutdm.cli.convert import say
from layoutdm.cli.options import AsJson, InputFormat, OnError, check_choice, check_input
from layoutdm.cli.options import source as layouts_of


def stats(
    source: Annotated[
        str, typer.Argument(metavar="SRC", help="File or folder of layouts, or `sample`.")
    ],
    source_format: InputFormat = None,
    split: Annotated[
        str | None, typer.Option("--split", help="Count one split only: train, val or test.")
    ] = None,
    filters: Annotated[
        bool, typer.Option("--filters", help="Apply the paper's filters before counting.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write a page with plots: report.html.")
    ] = None,
    as_json: AsJson = False,
    on_error: OnError = "raise",
) -> None:
    """Show what a data set is made of: counts, labels, elements per layout, duplicates.

    The page that --out writes adds plots and, for each label, a map of where its elements sit.
    The paper's filters keep portrait layouts of 1 to 25 elements; without --filters everything is
    counted, and what they would remove is said.

    Examples:

      layoutdm stats sample

      layoutdm stats layouts/ --split train --out report.html

      layoutdm stats instances.json --json | jq .labels

      layoutdm stats semantic_annotations.zip --from rico --filters
    """
    import json
    import sys
    from collections import Counter
    from dataclasses import replace

    from layoutdm import formats
    from layoutdm.cli.progress import reading
    from layoutdm.cli.stats_view import show
    from layoutdm.data.report import report
    from layoutdm.data.splits import SPLITS

    check_input(source_format, on_error)
    check_choice(split, SPLITS, "--split")
    if out is not None and out.suffix.lower() not in (".html", ".htm"):
        raise typer.BadParameter(f"must end in .html, got {out}", param_hint="--out")
    problems = formats.Problems(skip=on_error == "skip")
    with reading(Path(source).name, None) as bar:
        result = report(
            layouts_of(source),
            format=source_format,
            split=split,
            filters=filters,
            problems=problems,
            progress=bar.bytes,
        )
    if out is not None:
        from layoutdm.atomic import replacing
        from layoutdm.data.statistics_page import to_page

        with replacing(out) as part:
            part.write_text(to_page(result), encoding="utf-8")
    if as_json:
        print(json.dumps(result.as_dict(), indent=2, ensure_ascii=False))
    else:
        show(result, sys.stdout)
    say(replace(problems, removed=Counter()))  # the report itself tells what the filters removed
    if out is not None:
        print(f"{out}: page with plots", file=sys.stderr)
