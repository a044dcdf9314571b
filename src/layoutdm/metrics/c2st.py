"""C2ST: can a classifier tell generated layouts from real ones? (Lopez-Paz and Oquab 2017)

A small transformer is trained on one part of both sets and asked about the rest. The area under
its ROC curve is 0.5 where it can only guess and 1 where it is never wrong. It reads edges and their
waves, so that it sees what feature networks forget: whether edges line up, whether gaps repeat.

```python
found = c2st(generated, reference)
found.auc.value, found.floor.value  # against real layouts, and of real ones among themselves
```

Seed and budget are fixed, but the figure depends on how many layouts there are to learn from:
compare only figures with the same numbers, which are part of the answer. It needs torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout
from layoutdm.metrics.bootstrap import Interval

Floats = NDArray[np.float64]

FEWEST = 100  # layouts of each set: fewer teach a classifier nothing
MOST = 5_000
LEARN, CHOOSE = 0.6, 0.1  # of each set: to learn from, to stop by; the rest is asked about
WIDTH, LAYERS, HEADS = 128, 4, 4
OCTAVES = 9  # waves of 1, 2, ... 256 periods across the canvas
PASSES, STEPS = 24, 1_500  # of the training: whichever is reached first
BATCH = 128
RATE = 1e-3
RESAMPLES = 1_000


@dataclass(frozen=True)
class C2ST:
    """AUC against real layouts; `floor` is that of one half of the real ones against the other."""

    auc: Interval
    floor: Interval
    layouts: int  # of each set
    asked: int  # of each set, on which the AUC was measured


def c2st(
    generated: Sequence[Layout], reference: Sequence[Layout], *, seed: int = 0, most: int = MOST
) -> C2ST:
    """Train the classifier twice, for the figure and for its floor; about a minute each on a core.

    The floor has as many layouts as there are: half of the reference against the other half.
    """
    _torch()
    full = [layout for layout in generated if len(layout)]
    real = [layout for layout in reference if len(layout)]
    number = min(len(full), len(real), most)
    if number < FEWEST:
        raise LayoutdmError(
            f"c2st needs at least {FEWEST} layouts that are not empty in both files, "
            f"got {len(full)} generated and {len(real)} real ones"
        )
    labels = sorted({label for layout in (*full, *real) for label in layout.labels})
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(real))
    some = [full[i] for i in rng.permutation(len(full))[:number]]
    auc, asked = _auc(some, [real[i] for i in order[:number]], labels, seed)
    half = min(len(real) // 2, most)
    floor, _ = _auc(
        [real[i] for i in order[:half]], [real[i] for i in order[half : 2 * half]], labels, seed
    )
    return C2ST(auc, floor, number, asked)


def area_under_curve(positive: Floats, negative: Floats) -> float:
    """How often a positive score is above a negative one; equal ones count half.

    >>> area_under_curve(np.array([0.9, 0.4]), np.array([0.1, 0.4]))
    0.875
    """
    scores = np.concatenate([positive, negative])
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks = (last - (counts - 1) / 2)[inverse]
    n, m = len(positive), len(negative)
    return float((ranks[:n].sum() - n * (n + 1) / 2) / (n * m))


def _auc(
    one: Sequence[Layout], other: Sequence[Layout], labels: Sequence[str], seed: int
) -> tuple[Interval, int]:
    """Of a classifier that learns which layouts are of the first set; and how many were asked."""
    learn = int(LEARN * len(one))
    choose = learn + max(10, int(CHOOSE * len(one)))
    parts = [slice(0, learn), slice(learn, choose), slice(choose, None)]
    sets = [_arrays([*one[part], *other[part]], labels) for part in parts]
    wanted = [np.repeat([1.0, 0.0], [len(one[part]), len(other[part])]) for part in parts]
    scores = _fit(sets, wanted, len(labels), seed)
    positive, negative = scores[wanted[2] == 1], scores[wanted[2] == 0]
    rng = np.random.default_rng(seed)
    drawn = [
        area_under_curve(rng.choice(positive, len(positive)), rng.choice(negative, len(negative)))
        for _ in range(RESAMPLES)
    ]
    low, high = np.quantile(drawn, [0.025, 0.975])
    value = area_under_curve(positive, negative)
    return Interval(value, float(low), float(high), 0.95), len(positive)


@dataclass(frozen=True, eq=False)
class _Arrays:
    """label (n, S), edges (n, S, 4) and which slots are elements (n, S)."""

    label: NDArray[np.int64]
    edges: NDArray[np.float32]
    valid: NDArray[np.bool_]


def _arrays(layouts: Sequence[Layout], labels: Sequence[str]) -> _Arrays:
    index = {label: i for i, label in enumerate(labels)}
    slots = max(len(layout) for layout in layouts)
    label = np.zeros((len(layouts), slots), dtype=np.int64)
    edges = np.zeros((len(layouts), slots, 4), dtype=np.float32)
    valid = np.zeros((len(layouts), slots), dtype=bool)
    for row, layout in enumerate(layouts):
        n = len(layout)
        label[row, :n] = [index[name] for name in layout.labels]
        edges[row, :n] = layout.corners()
        valid[row, :n] = True
    return _Arrays(label, edges, valid)


def _fit(
    sets: Sequence[_Arrays], wanted: Sequence[Floats], labels: int, seed: int
) -> NDArray[np.float64]:
    """Scores of the third set, by the state that knew the second best."""
    torch = _torch()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = _network(labels)
        optimizer = torch.optim.AdamW(network.parameters(), RATE, weight_decay=0.05)
        rng = np.random.default_rng(seed)
        number = len(wanted[0])
        batches = max(number // BATCH, 1)
        passes = max(1, min(PASSES, STEPS // batches))
        best, scores = -1.0, np.zeros(len(wanted[2]))
        step, steps = 0, passes * batches
        for _ in range(passes):
            network.train()
            for rows in np.array_split(rng.permutation(number), batches):
                rate = min(1.0, (step + 1) / 50) * 0.5 * (1 + np.cos(np.pi * step / steps))
                optimizer.param_groups[0]["lr"] = RATE * rate
                target = torch.from_numpy(wanted[0][rows]).float()
                found = _ask(network, sets[0], rows)
                loss = torch.nn.functional.binary_cross_entropy_with_logits(found, target)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                step += 1
            seen = _scores(network, sets[1])
            auc = area_under_curve(seen[wanted[1] == 1], seen[wanted[1] == 0])
            if auc > best:
                best, scores = auc, _scores(network, sets[2])
    return scores


def _scores(network: Any, arrays: _Arrays) -> NDArray[np.float64]:
    torch = _torch()
    network.eval()
    found = []
    with torch.no_grad():
        for rows in np.array_split(np.arange(len(arrays.label)), len(arrays.label) // 256 + 1):
            found.append(_ask(network, arrays, rows).double().numpy())
    return np.concatenate(found)


def _ask(network: Any, arrays: _Arrays, rows: NDArray[np.int64]) -> Any:
    torch = _torch()
    slots = int(arrays.valid[rows].sum(axis=1).max())
    parts = (part[rows, :slots] for part in (arrays.label, arrays.edges, arrays.valid))
    return network(*(torch.from_numpy(np.ascontiguousarray(part)) for part in parts))


def _network(labels: int) -> Any:
    """A transformer over elements: label, edges, size and the waves of edges; then one score."""
    torch = _torch()
    nn = torch.nn

    class Classifier(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.label = nn.Embedding(labels, WIDTH)
            self.read = nn.Linear(6 + 8 * OCTAVES, WIDTH)
            self.first = nn.Parameter(torch.zeros(1, 1, WIDTH))
            layer = nn.TransformerEncoderLayer(
                WIDTH, HEADS, 4 * WIDTH, 0.1, "gelu", batch_first=True, norm_first=True
            )
            self.body = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
            self.score = nn.Linear(WIDTH, 1)
            self.register_buffer("waves", 2 * np.pi * 2.0 ** torch.arange(OCTAVES))

        def forward(self, label: Any, edges: Any, valid: Any) -> Any:
            angles = (edges[..., None] * self.waves).flatten(2)
            size = edges[..., 2:] - edges[..., :2]
            read = torch.cat([edges, size, angles.sin(), angles.cos()], dim=-1)
            x = self.label(label) + self.read(read)
            x = torch.cat([self.first.expand(len(x), -1, -1), x], dim=1)
            hidden = torch.cat([torch.zeros_like(valid[:, :1]), ~valid], dim=1)
            return self.score(self.body(x, src_key_padding_mask=hidden)[:, 0])[:, 0]

    return Classifier()


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise LayoutdmError(
            "c2st trains a classifier, which needs torch; install it with: "
            "pip install 'layoutdm[train]'"
        ) from None
    return torch
