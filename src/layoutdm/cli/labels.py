"""`layoutdm labels`: the words a model knows, and how often it has seen them."""

from __future__ import annotations

from typing import Annotated

import typer

from layoutdm.cli.options import AsJson

FEW = 50  # layouts, below which a label is hardly learned


def labels(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="Embedded name, folder, or hub id.")
    ] = "rico25",
    as_json: AsJson = False,
) -> None:
    """List the labels of a model, one a line, with how many training layouts have it.

    Models that do not know how often list the labels alone. Labels seen in fewer than 50 layouts
    are named in a warning; in JSON unknown counts are null. Other words that stand for a label are
    in brackets; case and spelling do not matter: "text button" is Text Button, too.

    Examples:

      layoutdm labels rico25

      layoutdm labels my_model --json
    """
    import json
    import sys

    from layoutdm.model.store import find, label_counts, labels_of, read_config

    record = read_config(find(model))
    names, counts = labels_of(record, model), label_counts(record)
    aliases = record.get("aliases")
    words = aliases.items() if isinstance(aliases, dict) else ()
    also = {name: [word for word, label in words if label == name] for name in names}
    if as_json:
        seen = counts or {}
        rows = [{"label": n, "seen": seen.get(n), "aliases": also[n]} for n in names]
        print(json.dumps(rows, indent=1))
        return
    layouts, widest = record.get("layouts"), max(map(len, names))
    for name in names:
        share = counts and isinstance(layouts, int) and layouts and counts[name] / layouts
        parts = [
            f"{name:<{widest}}",
            f"{counts[name]:>9,}" if counts else "",
            f"{share:6.1%}" if share else "",
            f"({', '.join(also[name])})" if also[name] else "",
        ]
        print("  ".join(part for part in parts if part).rstrip())
    rare = [name for name in names if counts and counts[name] < FEW]
    if rare:
        print(
            f"warning: seen in fewer than {FEW} layouts, so hardly learned: {', '.join(rare)}",
            file=sys.stderr,
        )
