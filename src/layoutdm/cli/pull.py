"""`layoutdm pull`: download a model folder from the Hugging Face hub."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def pull(
    repository: Annotated[str, typer.Argument(help="Hub id, OWNER/NAME.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder to write; the hub's own cache by default.")
    ] = None,
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit.")] = None,
) -> None:
    """Download a model and print the folder it is in.

    Examples:

        layoutdm pull anna/posters --out posters_model

        layoutdm generate --model "$(layoutdm pull anna/posters)"
    """
    from layoutdm.model.hub import pull as pull_folder

    print(pull_folder(repository, out, revision=revision))
