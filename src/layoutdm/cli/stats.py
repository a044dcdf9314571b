"""`layoutdm stats`: a data set in numbers, as tables, as JSON or as a page with plots."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def stats(
    source: Annotated[
        str, typer.Argument(metavar="SRC", help="File or folder of layouts, or `sample`.")
    ],
    source_format: Annotated[
        str | None, typer.Option("--from", help="Format of SRC, when it is not recognised.")
    ] = None,
    split: Annotated[
        str | None, typer.Option("--split", help="Count one split only: train, val or test.")
    ] = None,
    filters: Annotated[
        bool, typer.Option("--filters", help="Apply the paper's filters before counting.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write a page with plots: report.html.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    on_error: Annotated[
        str, typer.Option("--on-error", help="stop at a bad record, or skip it and say so.")
    ] = "stop",
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

    from layoutdm.cli.stats_view import listed_problems, progress_bar, show
    from layoutdm.data.report import report
    from layoutdm.data.splits import SPLITS
    from layoutdm.errors import LayoutdmError
    from layoutdm.formats import Problems

    if on_error not in ("stop", "skip"):
        raise typer.BadParameter(f"must be stop or skip, got {on_error!r}", param_hint="--on-error")
    if split is not None and split not in SPLITS:
        raise typer.BadParameter(
            f"must be {', '.join(SPLITS)}, got {split!r}", param_hint="--split"
        )
    if out is not None and out.suffix.lower() not in (".html", ".htm"):
        raise LayoutdmError(f"{out}: the report is a web page; its name should end with .html")
    problems = Problems(skip=on_error == "skip")
    with progress_bar() as progress:
        result = report(
            source,
            format=source_format,
            split=split,
            filters=filters,
            problems=problems,
            progress=progress,
        )
    if out is not None:
        from layoutdm.data.statistics_page import to_page
        from layoutdm.formats.files import replacing

        with replacing(out) as part:
            part.write_text(to_page(result), encoding="utf-8")
    if as_json:
        print(json.dumps(result.as_dict(), indent=2, ensure_ascii=False))
    else:
        show(result, sys.stdout)
    for line in listed_problems(problems):
        print(line, file=sys.stderr)
    if out is not None:
        print(f"{out}: page with plots", file=sys.stderr)
