"""`layoutdm models`: what can be generated without downloading anything."""

from __future__ import annotations

from typing import Annotated

import typer


def models(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON on standard output.")] = False,
) -> None:
    """List the embedded models.

    Examples:

      layoutdm models

      layoutdm models --json
    """
    import json

    from layoutdm.model.store import embedded, read_config

    rows = []
    for name, folder in embedded().items():
        config = read_config(folder)
        size = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
        rows.append(
            {
                "name": name,
                "labels": len(config["labels"]),
                "max_elements": config["max_elements"],
                "canvas": config.get("canvas") or [1.0, 1.0],
                "megabytes": round(size / 1e6, 1),
            }
        )
    if as_json:
        print(json.dumps(rows, indent=1))
        return
    if not rows:
        print("no embedded models; layoutdm generate --model FOLDER uses one of your own")
    for row in rows:
        print(
            f"{row['name']:<12} {row['labels']:>3} labels, up to {row['max_elements']} elements, "
            f"{row['megabytes']} MB"
        )
