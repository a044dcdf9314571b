"""`layoutdm schema`: the JSON schema of a request."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def schema(
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write to this file instead.")
    ] = None,
) -> None:
    """Print the JSON schema of a request, for editors and other programs.

    Examples:

      layoutdm schema

      layoutdm schema --out request.schema.json
    """
    import json

    from layoutdm.spec import Spec

    text = json.dumps(Spec.json_schema(), indent=2)
    if out is None:
        print(text)
    else:
        out.write_text(text + "\n", encoding="utf-8")
        typer.echo(f"wrote {out}", err=True)
