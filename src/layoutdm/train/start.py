"""What a run began with and a resumed run must not work out anew: labels, bins, network shape."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from layoutdm.atomic import write_bytes
from layoutdm.errors import LayoutdmError
from layoutdm.tokens import Bins, Tokenizer
from layoutdm.train.networks import NetworkConfig

FILE = "start.json"


@dataclass(frozen=True, eq=False)
class Start:
    """Fixed at the beginning of a run. `base_labels` are those of the model it was tuned from."""

    tokenizer: Tokenizer
    network: NetworkConfig
    base_labels: tuple[str, ...] = ()


def write_start(folder: Path, start: Start) -> None:
    record = {
        "labels": list(start.tokenizer.labels),
        "bins": start.tokenizer.bins.to_dict(),
        "max_elements": start.tokenizer.max_elements,
        "network": start.network.to_dict(),
        "base_labels": list(start.base_labels),
    }
    write_bytes(folder / FILE, json.dumps(record, indent=1).encode())


def read_start(folder: Path) -> Start | None:
    """The beginning of the run in this folder, or None where there is no run."""
    path = folder / FILE
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        bins = Bins.from_dict(record["bins"])
        tokenizer = Tokenizer(tuple(record["labels"]), bins, int(record["max_elements"]))
        network = NetworkConfig.from_dict(record["network"])
        return Start(tokenizer, network, tuple(record["base_labels"]))
    except FileNotFoundError:
        return None
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise LayoutdmError(f"{path}: damaged, so the run cannot go on: {error!r}") from None
