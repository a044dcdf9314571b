"""Write a trained network as the folder that `layoutdm generate --model FOLDER` uses, and read it.

```python
folder = export_model(network, tokenizer, schedule, Path("my_model"))
loaded = load_network(folder)  # back to torch, for fine-tuning
loaded.network, loaded.tokenizer.labels
```

The folder holds `config.json` (labels, bins, schedule, network), `model.onnx` (the network, stored
in half precision and computed in single precision), `README.md` (the model card) and, where one was
fitted, `labels.npz` (the label network). The weights exist once: fine-tuning reads them back from
the ONNX file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from layoutdm.atomic import write_bytes
from layoutdm.diffusion import Schedule
from layoutdm.errors import LayoutdmError
from layoutdm.generator.config import apart_record
from layoutdm.generator.label_file import FILE as LABELS
from layoutdm.generator.label_file import to_bytes as label_bytes
from layoutdm.plan.labels import LabelModel
from layoutdm.terms.apart import Apart
from layoutdm.tokens import Bins, Tokenizer
from layoutdm.train.networks import Network, NetworkConfig, build
from layoutdm.train.onnx_graph import network_model, read_weights
from layoutdm.train.onnx_nodes import Weights

FORMAT = 1
AHEAD = 8.0  # the scale of those tables


@dataclass(frozen=True)
class LoadedModel:
    """A model folder back in torch; `config` is its config.json."""

    network: Network
    tokenizer: Tokenizer
    schedule: Schedule
    config: Mapping[str, Any]


def export_model(
    network: Network,
    tokenizer: Tokenizer,
    schedule: Schedule,
    folder: Path,
    *,
    sampling: Mapping[str, Any] | None = None,
    number_histogram: Sequence[int] | None = None,
    canvas: tuple[float, float] = (1.0, 1.0),
    about_noise: Sequence[float] = (),
    card: str | None = None,
    label_model: LabelModel | None = None,
    apart: Apart | None = None,
    extra: Mapping[str, Any] | None = None,
) -> Path:
    """Write the model folder; each file is complete or not there, and config.json comes last.

    `number_histogram` counts the train layouts with 1, 2, ... elements. `canvas` is the usual
    width and height. `about_noise` are the standard deviations of the draft noise levels. `apart`
    says which labels keep apart. `extra` are further entries of config.json, such as the
    frequencies of labels.
    """
    module = _module(network)
    arrays = {name: value.detach().cpu().numpy() for name, value in module.state_dict().items()}
    model = network_model(network.config, arrays)
    config = {
        "format": FORMAT,
        "generator": "layoutdm",
        "labels": list(tokenizer.labels),
        "max_elements": tokenizer.max_elements,
        "bins": tokenizer.bins.to_dict(),
        "schedule": schedule.to_dict(),
        "network": network.config.to_dict(),
        "number_histogram": [int(n) for n in number_histogram or [1] * tokenizer.max_elements],
        "canvas": [float(side) for side in canvas],
        "about_noise": [float(value) for value in about_noise],
        "label_network": label_model is not None,
    }
    if apart is not None:
        config["apart"] = apart_record(apart, tokenizer.labels)
    if sampling:
        config["sampling"] = {task: dict(values) for task, values in sampling.items()}
    config |= dict(extra or {})
    folder.mkdir(parents=True, exist_ok=True)
    write_bytes(folder / "model.onnx", model.SerializeToString())
    if label_model is None:
        (folder / LABELS).unlink(missing_ok=True)  # of a model that was here before
    else:
        write_bytes(folder / LABELS, label_bytes(label_model))
    write_bytes(folder / "README.md", (card or _plain_card(tokenizer)).encode())
    write_bytes(folder / "config.json", (json.dumps(config, indent=1) + "\n").encode())
    return folder


def load_network(folder: Path) -> LoadedModel:
    """The network of a model folder, with its (half precision) weights, ready to train on."""
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text())
        tokenizer = Tokenizer(
            tuple(config["labels"]), Bins.from_dict(config["bins"]), int(config["max_elements"])
        )
        schedule = Schedule.from_dict(config["schedule"])
        network = build(NetworkConfig.from_dict(config["network"]))
    except FileNotFoundError:
        raise LayoutdmError(f"{folder}: no config.json there; it must be a model folder") from None
    except (json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise LayoutdmError(f"{path}: not the config of a model: {error!r}") from None
    weights = without_ahead(read_weights(folder / "model.onnx"), tokenizer)
    try:
        _module(network).load_state_dict({k: torch.from_numpy(v) for k, v in weights.items()})
    except RuntimeError as error:
        raise LayoutdmError(
            f"{folder}: model.onnx does not fit the network in config.json: {error}"
        ) from None
    return LoadedModel(network, tokenizer, schedule, config)


def without_ahead(weights: Weights, tokenizer: Tokenizer) -> Weights:
    """Of networks that could also read which labels are still to come: as if nothing were known.

    They add a row for "none" of each label to the first token, which can be added once for all.
    """
    if "ahead.weight" not in weights:
        return weights
    kept = {name: value for name, value in weights.items() if not name.startswith("ahead")}
    rows = np.arange(len(tokenizer.labels)) * (tokenizer.max_elements + 1)
    nothing = AHEAD * np.asarray(weights["ahead.weight"])[rows].sum(axis=0)
    kept["first.weight"] = (np.asarray(kept["first.weight"]) + nothing).astype(np.float32)
    return kept


def round_weights(network: Network) -> Network:
    """The same network with weights rounded to half precision, as the exported file has them."""
    module = _module(network)
    rounded = build(network.config)
    _module(rounded).load_state_dict(
        {name: value.half().float() for name, value in module.state_dict().items()}
    )
    _module(rounded).eval()
    return rounded


def count_numbers(counts: Sequence[int], max_elements: int) -> list[int]:
    """How many layouts have 1, 2, ..., max_elements elements."""
    histogram = np.bincount(np.asarray(counts, dtype=np.int64), minlength=max_elements + 1)
    return [int(count) for count in histogram[1:]]


def _module(network: Network) -> nn.Module:
    assert isinstance(network, nn.Module)
    return network


def _plain_card(tokenizer: Tokenizer) -> str:
    return f"# A layoutdm model\n\nLabels: {', '.join(tokenizer.labels)}.\n"
