"""Small untrained models, exported as users get them; made once a test run."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import torch

from layoutdm.diffusion import Schedule
from layoutdm.tokens import Bins, Tokenizer
from layoutdm.train.export import export_model
from layoutdm.train.networks import Network, NetworkConfig, build
from layoutdm.train.networks.paper import paper_config

LABELS = ("Toolbar", "Image", "Text", "Text Button", "Icon")


def tokenizer() -> Tokenizer:
    rng = np.random.default_rng(0)
    centres = [np.unique(rng.uniform(0.02, 0.98, size=12).round(3)) for _ in range(4)]
    x, y, width, height = centres
    return Tokenizer(LABELS, Bins("kmeans", (x, y, width, height)), 12)


@cache
def network(kind: str) -> Network:
    torch.manual_seed(0)
    sizes = tokenizer().sizes
    small = {"width": 16, "heads": 2, "layers": 2, "feedforward": 32, "max_elements": 12}
    if kind == "paper":
        made = build(paper_config(sizes, **small))
    else:
        levels = 4 if kind == "reading" else 0
        made = build(NetworkConfig(sizes, about_levels=levels, ordered=kind == "ahead", **small))
    with torch.no_grad():  # an untrained network hardly looks at its input: make it look
        for parameter in made.parameters():  # type: ignore[attr-defined]
            if parameter.ndim == 2:
                parameter.mul_(6.0)
    return made


@cache
def folder(kind: str = "element", schedule: str = "published") -> Path:
    """`element`, `reading` (takes drafts), `ahead` (knows reading order) or `paper`."""
    target = Path(tempfile.mkdtemp(prefix="layoutdm-test-")) / kind
    return export_model(
        network(kind),
        tokenizer(),
        Schedule.preset(schedule),
        target,
        canvas=(360, 640),
        sampling={"default": {"steps": 6}, "c": {"steps": 3, "temperature": 0.9}},
    )
