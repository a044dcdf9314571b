"""`layoutdm labels`: the words a model knows."""

from __future__ import annotations

from typing import Annotated

import typer


def labels(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="Embedded name, folder, or hub id.")
    ] = "rico25",
    as_json: Annotated[bool, typer.Option("--json", help="As a JSON list.")] = False,
) -> None:
    """List the labels of a model, one a line.

    Examples:

      layoutdm labels rico25

      layoutdm labels my_model --json
    """
    import json

    from layoutdm.model.config import ModelConfig
    from layoutdm.model.store import find

    names = ModelConfig.read(find(model)).labels
    print(json.dumps(list(names)) if as_json else "\n".join(names))
