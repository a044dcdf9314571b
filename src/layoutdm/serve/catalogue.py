"""The models that a server offers: loaded once, found by name only, described for clients.

catalogue = Catalogue.load(("rico25", "models/mine"))
catalogue.find("mine").labels
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout
from layoutdm.model import Model, embedded, load
from layoutdm.model.store import find, label_counts, read_config
from layoutdm.serve.failures import refused
from layoutdm.spec import TASKS, Condition, Problem, Spec
from layoutdm.spec.problems import suggestion


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Models by name, the usual one first; nothing else can be asked for."""

    models: Mapping[str, Model]
    described: Mapping[str, dict[str, Any]]

    @classmethod
    def load(cls, names: tuple[str, ...] = (), threads: int | None = None) -> Catalogue:
        """Embedded names, folders or hub ids; a folder is offered under its last name."""
        wanted = names or tuple(sorted(embedded(), key=lambda name: name != "rico25"))
        if not wanted:
            raise LayoutdmError("there are no embedded models; name one with --model FOLDER")
        models: dict[str, Model] = {}
        described: dict[str, dict[str, Any]] = {}
        for source in wanted:
            name = source if source in embedded() else Path(os.path.realpath(source)).name
            if name in models:
                raise LayoutdmError(f"two models are called {name!r}; rename one of the folders")
            models[name] = load(source, threads=threads)
            models[name].name = name  # never the path of a folder
            described[name] = describe(name, models[name], read_config(find(source)), not described)
        return cls(models, described)

    @property
    def usual(self) -> str:
        return next(iter(self.models))

    def find(self, name: str | None) -> Model:
        """The model of this name, the usual one for None; else a ServeError with a suggestion."""
        if name is None:
            return self.models[self.usual]
        if name not in self.models:
            raise refused([unknown(name, self)])
        return self.models[name]


def unknown(name: str, catalogue: Catalogue) -> Problem:
    known = list(catalogue.models)
    return Problem("model", f"unknown model {name!r}; {suggestion(name, known, 'models')}")


def describe(name: str, model: Model, config: Mapping[str, Any], usual: bool) -> dict[str, Any]:
    """What a client must know to ask a model: its words, its bounds, and what it refuses."""
    counts = label_counts(dict(config)) or {}
    aliases = _mapping(config.get("aliases"))
    words: dict[str, list[str]] = {label: [] for label in model.labels}
    for alias, label in aliases.items():
        if isinstance(label, str) and label in words:
            words[label].append(str(alias))
    return {
        "name": name,
        "labels": [
            {"name": label, "count": counts.get(label), "aliases": words[label]}
            for label in model.labels
        ],
        "max_elements": model.max_elements,
        "canvas": list(model.canvas),
        "tasks": {task: refuses(model, task) for task in TASKS},
        "default": usual,
    }


def refuses(model: Model, task: str) -> str | None:
    """Why a model cannot do a task of the paper, in one sentence; None: it can."""
    boxes = np.array([[0.5, 0.2, 0.6, 0.2], [0.5, 0.7, 0.6, 0.2]])
    label = model.labels[0]
    layout = Layout.create([label, label], boxes)
    options: dict[str, Any] = {"share": 0.5} if task == "relation" else {}
    spec = Spec.from_layout(layout, task=task, **options)
    condition = Condition.from_spec(spec, model.labels, model.max_elements)
    return model.generator.refuses(condition)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
