"""`layoutdm.train`: from a data set to a model folder, in one call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from layoutdm.data import Dataset
from layoutdm.data import open as open_data
from layoutdm.extras import need


def train_model(
    data: Dataset | str | Path,
    out: str | Path,
    *,
    base: str | Path | None = None,
    portrait: bool = False,
    resume: bool = False,
    settings: Any = None,
    **budget: Any,
) -> Any:
    """Train LayoutDM by our recipe and write the model folder; the report of the run.

    `budget` holds minutes, epochs, steps, seed, ... (`layoutdm.train.recipe.Budget`); `settings`
    replaces the whole recipe; `base` is a model folder or name to fine-tune.

        layoutdm.train("annotations/", "my_model", minutes=30)
    """
    need("training", "torch", "accelerate", "safetensors", "sklearn", "onnx", "matplotlib")
    from layoutdm.model.store import find
    from layoutdm.train.export import load_network
    from layoutdm.train.recipe import preset
    from layoutdm.train.run import train

    recipe = settings or preset("recipe")
    if budget:
        recipe = recipe.changed("budget", **budget)
    begin = load_network(find(base)) if base is not None else None
    most = begin.tokenizer.max_elements if begin is not None else recipe.data.max_elements
    opened = (
        data
        if isinstance(data, Dataset)
        else open_data(data, max_elements=None, portrait=portrait, cut_within=most)
    )
    return train(opened, recipe, Path(out), base=begin, resume=resume)
