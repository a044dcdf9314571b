"""Learned features of layouts, for FID and its relatives: ONNX Runtime only, no torch.

```python
network = load_features("rico25")          # or "publaynet", or a folder from `fit-features`
features = network.extract(layouts)        # (N, 256) float64, one row a layout
network.name, network.hash                 # say both beside every figure
```

Figures made with different networks cannot be compared: that is what the hash is for. It is taken
over the network's file, label names included.

What happens to unusual layouts:
- a label that the network does not know is an error; `fits` asks beforehand;
- an empty layout is an error, for there is nothing to read: leave it out and count it;
- more elements than in training (25) are read all the same. The encoder has no positions, so
  nothing is cut off; but the network has never seen such a layout, and `too_long` counts them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout

FILE_NAME = "features.onnx"
HASH_DIGITS = 16
_EMBEDDED = Path(__file__).parent.parent / "weights" / "features"


class PackedArrays(Protocol):
    """Anything with the three arrays of a packed set of layouts."""

    @property
    def bbox(self) -> NDArray[Any]: ...
    @property
    def label(self) -> NDArray[Any]: ...
    @property
    def mask(self) -> NDArray[Any]: ...


@dataclass(frozen=True)
class FeatureNetwork:
    """A loaded encoder: `extract` turns layouts into rows of features."""

    name: str
    hash: str
    labels: tuple[str, ...]
    max_elements: int
    _session: Any = field(repr=False, compare=False)

    @property
    def width(self) -> int:
        """Length of one feature row."""
        return int(self._session.get_outputs()[0].shape[1])

    def fits(self, labels: Iterable[str]) -> bool:
        """Whether the network knows all of these label names."""
        return set(labels) <= set(self.labels)

    def too_long(self, layouts: Iterable[Layout]) -> int:
        """How many layouts have more elements than any the network was trained on."""
        return sum(len(layout) > self.max_elements for layout in layouts)

    def extract(
        self, layouts: Sequence[Layout] | PackedArrays, batch_size: int = 256
    ) -> NDArray[np.float64]:
        """One row of features a layout, in the order given.

        Takes layouts, or arrays `bbox` (N, S, 4), `label` (N, S), `mask` (N, S) whose label
        indices follow `self.labels`.
        """
        if isinstance(layouts, Sequence):
            return self._extract(self._rows(layouts), batch_size)
        return self.extract_arrays(layouts.bbox, layouts.label, layouts.mask, batch_size)

    def extract_arrays(
        self, bbox: ArrayLike, label: ArrayLike, mask: ArrayLike, batch_size: int = 256
    ) -> NDArray[np.float64]:
        """As `extract`, from plain arrays; padding may stand anywhere."""
        boxes, labels = np.asarray(bbox, dtype=np.float32), np.asarray(label)
        valid = np.asarray(mask, dtype=np.bool_)
        if boxes.ndim != 3 or boxes.shape != (*valid.shape, 4) or labels.shape != valid.shape:
            raise LayoutdmError(
                f"arrays of shape bbox {boxes.shape}, label {labels.shape}, mask {valid.shape}; "
                "expected (N, S, 4), (N, S) and (N, S)"
            )
        rows = []
        for index, keep in enumerate(valid):
            ids = labels[index][keep].astype(np.int64)
            if not len(ids):
                raise LayoutdmError(_EMPTY.format(index))
            if ids.min() < 0 or ids.max() >= len(self.labels):
                raise LayoutdmError(
                    f"layout {index}: label index {ids.min() if ids.min() < 0 else ids.max()} is "
                    f"outside 0..{len(self.labels) - 1}, the labels of feature network "
                    f"{self.name!r}"
                )
            rows.append((boxes[index][keep], ids))
        return self._extract(rows, batch_size)

    def _rows(self, layouts: Iterable[Layout]) -> list[_Row]:
        ids = {label: i for i, label in enumerate(self.labels)}
        rows = []
        for index, layout in enumerate(layouts):
            if not len(layout):
                raise LayoutdmError(_EMPTY.format(layout.id or index))
            unknown = next((label for label in layout.labels if label not in ids), None)
            if unknown is not None:
                raise LayoutdmError(
                    f"layout {layout.id or index}: feature network {self.name!r} does not know "
                    f"the label {unknown!r}; it knows {', '.join(self.labels)}"
                )
            row = np.array([ids[label] for label in layout.labels], dtype=np.int64)
            rows.append((layout.boxes.astype(np.float32), row))
        return rows

    def _extract(self, rows: Sequence[_Row], batch_size: int) -> NDArray[np.float64]:
        features = np.zeros((len(rows), self.width))
        # Layouts of one length go together, so that hardly any padding is computed.
        order = np.argsort([len(ids) for _, ids in rows], kind="stable")
        for start in range(0, len(rows), batch_size):
            part = order[start : start + batch_size]
            length = len(rows[part[-1]][1])
            boxes = np.zeros((len(part), length, 4), dtype=np.float32)
            labels = np.zeros((len(part), length), dtype=np.int64)
            mask = np.zeros((len(part), length), dtype=np.bool_)
            for k, index in enumerate(part):
                box, ids = rows[index]
                boxes[k, : len(ids)], labels[k, : len(ids)], mask[k, : len(ids)] = box, ids, True
            if not np.isfinite(boxes).all():
                bad = part[np.flatnonzero(~np.isfinite(boxes).all(axis=(1, 2)))[0]]
                raise LayoutdmError(f"layout {bad}: its boxes must be finite numbers")
            inputs = {"boxes": boxes, "labels": labels, "mask": mask}
            features[part] = self._session.run(None, inputs)[0]
        return features


_Row = tuple[NDArray[np.float32], NDArray[np.int64]]
_EMPTY = "layout {}: is empty, so it has no features; leave empty layouts out and count them"


def embedded_features() -> tuple[str, ...]:
    """Names of the feature networks that come with the package."""
    if not _EMBEDDED.is_dir():
        return ()
    return tuple(sorted(p.name for p in _EMBEDDED.iterdir() if (p / FILE_NAME).is_file()))


def load_features(name_or_folder: str | Path, *, threads: int = 0) -> FeatureNetwork:
    """Load by name ("rico25", "publaynet") or from a folder that `fit-features` wrote.

    `threads` limits the cores used; 0 leaves it to ONNX Runtime.
    """
    names = embedded_features()
    known = str(name_or_folder) in names
    folder = _EMBEDDED / str(name_or_folder) if known else Path(name_or_folder)
    path = folder if folder.is_file() else folder / FILE_NAME
    if not path.is_file():
        raise LayoutdmError(
            f"{name_or_folder}: no feature network of this name, and no folder with a "
            f"{FILE_NAME}; the names are {', '.join(names)}, or train one with "
            "`layoutdm fit-features`"
        )
    return _load(path, str(name_or_folder) if known else path.parent.name, threads)


def features_for(labels: Iterable[str], *, threads: int = 0) -> FeatureNetwork | None:
    """The embedded network that knows all of these labels, or None."""
    wanted = set(labels)
    for name in embedded_features():
        network = load_features(name, threads=threads)
        if wanted and network.fits(wanted):
            return network
    return None


def _load(path: Path, name: str, threads: int) -> FeatureNetwork:
    import onnxruntime as ort

    content = path.read_bytes()
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    try:
        session = ort.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        facts = session.get_modelmeta().custom_metadata_map
        labels = tuple(str(label) for label in json.loads(facts["labels"]))
        max_elements = int(facts["max_elements"])
    except Exception as error:
        raise LayoutdmError(
            f"{path}: not a feature network that `layoutdm fit-features` wrote "
            f"({str(error).splitlines()[0]})"
        ) from None
    digest = hashlib.sha256(content).hexdigest()[:HASH_DIGITS]
    return FeatureNetwork(name, digest, labels, max_elements, session)
