"""`layoutdm push`: upload a model folder to the Hugging Face hub."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def push(
    model: Annotated[Path, typer.Argument(help="Model folder, as `layoutdm train` writes it.")],
    repository: Annotated[str, typer.Argument(help="Hub id, OWNER/NAME.")],
    private: Annotated[
        bool, typer.Option("--private", help="Make a new repository private.")
    ] = False,
    message: Annotated[str, typer.Option(help="What the upload changes.")] = "Upload model",
) -> None:
    """Upload a model folder, so that others can name it by its hub id.

    Only the model is uploaded: config.json, model.onnx, labels.npz, the card and the curves,
    not the checkpoints of the training run. You must be logged in (`hf auth login`).

    Examples:

        layoutdm push my_model anna/posters

        layoutdm push my_model anna/posters --private
    """
    from layoutdm.model.hub import push as push_folder

    print(push_folder(model, repository, private=private, message=message))
