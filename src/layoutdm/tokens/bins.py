"""Bins: how the numbers x, y, width and height become one of a few tokens each, and back.

>>> bins = uniform_bins(4)
>>> bins.encode(np.array([[0.5, 0.5, 1.0, 0.3]])).tolist()
[[2, 2, 3, 0]]
>>> bins.decode(np.array([[2, 2, 3, 0]])).tolist()
[[0.5, 0.5, 1.0, 0.25]]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutdm.boxes import FIELDS
from layoutdm.errors import LayoutdmError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Bools = NDArray[np.bool_]

ROUNDING = 1e-5  # files round their values to some digits
ATTRIBUTES = FIELDS


@dataclass(frozen=True, eq=False)
class Bins:
    """Ascending bin centres of the four attributes; a value belongs to the nearest centre."""

    kind: str
    centres: tuple[Floats, Floats, Floats, Floats]

    def __post_init__(self) -> None:
        for name, centres in zip(ATTRIBUTES, self.centres, strict=True):
            centres.flags.writeable = False
            if len(centres) < 1 or not np.all(np.isfinite(centres)):
                raise LayoutdmError(f"bins of {name}: need at least one finite centre")
            if np.any(np.diff(centres) <= 0):
                raise LayoutdmError(f"bins of {name}: centres must ascend without repeats")

    @property
    def counts(self) -> tuple[int, int, int, int]:
        a, b, c, d = (len(centres) for centres in self.centres)
        return a, b, c, d

    def encode_one(self, attribute: int, values: Floats) -> Ints:
        """Nearest bin of each value of one attribute; values out of range snap to the ends."""
        centres = self.centres[attribute]
        if self.kind == "uniform":  # the published rule: a value half-way goes to the even bin
            inside = np.clip(values, centres[0], centres[-1]) - centres[0]
            return np.asarray(np.rint(len(centres) * inside), dtype=np.int64)
        middles = (centres[1:] + centres[:-1]) / 2
        return np.searchsorted(middles, values, side="right").astype(np.int64)

    def encode(self, boxes: Floats) -> Ints:
        """(..., 4) boxes to (..., 4) bin numbers."""
        return np.stack([self.encode_one(a, boxes[..., a]) for a in range(4)], axis=-1)

    def decode(self, ids: Ints) -> Floats:
        """(..., 4) bin numbers to (..., 4) boxes."""
        return np.stack([self.centres[a][ids[..., a]] for a in range(4)], axis=-1)

    def on_canvas(self, axis: int) -> Bools:
        """(sizes, centres): whether a box on the canvas can have this width and x, or height and y.

        A bin stands for all values that are nearest to its centre, so one pair of them suffices.

        >>> uniform_bins(4).on_canvas(0).astype(int).tolist()
        [[1, 1, 1, 1], [0, 1, 1, 1], [0, 1, 1, 1], [0, 0, 1, 0]]
        """
        low, high = _cells(self.centres[axis])
        half = _cells(self.centres[2 + axis])[0][:, None] / 2
        # The smallest size of its bin: rounding must not rule out a box that touches the edge.
        return np.asarray((high >= half - ROUNDING) & (low <= 1 - half + ROUNDING))

    def error(self, boxes: Floats) -> dict[str, float]:
        """Mean absolute quantisation error of each attribute on these (n, 4) boxes."""
        difference = np.abs(self.decode(self.encode(boxes)) - boxes)
        means = difference.reshape(-1, 4).mean(axis=0)
        return {name: float(mean) for name, mean in zip(ATTRIBUTES, means, strict=True)}

    def to_dict(self) -> dict[str, Any]:
        named = zip(ATTRIBUTES, self.centres, strict=True)
        return {"kind": self.kind, "centres": {name: c.tolist() for name, c in named}}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Bins:
        try:
            x, y, w, h = (np.array(record["centres"][a], dtype=np.float64) for a in ATTRIBUTES)
            return cls(str(record["kind"]), (x, y, w, h))
        except (KeyError, TypeError, ValueError) as error:
            raise LayoutdmError(
                f"bins must hold 'kind' and 'centres' with lists x, y, width, height: {error}"
            ) from None


def uniform_bins(count: int = 32) -> Bins:
    """Evenly spaced: positions 0, 1/n, ..., (n-1)/n; sizes 1/n, 2/n, ..., 1."""
    _check_count(count)
    positions = np.arange(count, dtype=np.float64) / count
    sizes = np.arange(1, count + 1, dtype=np.float64) / count
    return Bins("uniform", (positions, positions.copy(), sizes, sizes.copy()))


def percentile_bins(boxes: Floats, count: int = 32, *, unique: bool = False) -> Bins:
    """Means of equally large groups of the sorted values, as the paper describes.

    With `unique`, of the sorted distinct values, as the published code does. Groups with the
    same mean become one bin, so there may be fewer bins than asked for.
    """
    _check_count(count)
    centres = [_percentile_centres(boxes[:, a], count, unique) for a in range(4)]
    return Bins("percentile-unique" if unique else "percentile", _four(centres))


def kmeans_bins(boxes: Floats, count: int = 32, *, seed: int = 0, limit: int = 100_000) -> Bins:
    """Cluster centres of each attribute's values (scikit-learn), at most `limit` boxes of them."""
    from sklearn.cluster import KMeans  # the learn half only: the run half reads saved centres

    _check_count(count)
    if len(boxes) > limit:
        keep = np.random.default_rng(seed).permutation(len(boxes))[:limit]
        boxes = boxes[np.sort(keep)]
    centres = []
    for attribute in range(4):
        values = boxes[:, attribute]
        # Equal to five digits is equal: values on a grid differ in their last digits.
        distinct = np.unique(np.round(values, 5))
        if len(distinct) <= count:  # fewer values than bins: the values themselves are exact
            centres.append(distinct)
            continue
        model = KMeans(count, n_init=10, random_state=seed).fit(values[:, None])
        centres.append(np.unique(np.clip(model.cluster_centers_[:, 0], 0.0, 1.0)))
    return Bins("kmeans", _four(centres))


def fit_bins(boxes: Floats, kind: str = "kmeans", count: int = 32, seed: int = 0) -> Bins:
    """Bins of the named kind for these (n, 4) boxes."""
    if len(boxes) == 0 and kind != "uniform":
        raise LayoutdmError(f"{kind} bins need boxes to fit to, got none")
    if kind == "kmeans":
        return kmeans_bins(boxes, count, seed=seed)
    if kind == "uniform":
        return uniform_bins(count)
    if kind in ("percentile", "percentile-unique"):
        return percentile_bins(boxes, count, unique=kind == "percentile-unique")
    raise LayoutdmError(
        f"unknown kind of bins {kind!r}; choose kmeans, uniform, percentile or percentile-unique"
    )


def _percentile_centres(values: Floats, count: int, unique: bool) -> Floats:
    ordered = np.unique(values) if unique else np.sort(values)
    groups = np.array_split(ordered, min(count, len(ordered)))
    return np.unique(np.clip([group.mean() for group in groups], 0.0, 1.0))


def _cells(centres: Floats) -> tuple[Floats, Floats]:
    """The smallest and largest value from 0 to 1 that belongs to each centre."""
    middles = (centres[1:] + centres[:-1]) / 2
    return np.concatenate([[0.0], middles]), np.concatenate([middles, [1.0]])


def _four(arrays: Sequence[Floats]) -> tuple[Floats, Floats, Floats, Floats]:
    x, y, w, h = arrays
    return x, y, w, h


def _check_count(count: int) -> None:
    if count < 1:
        raise LayoutdmError(f"number of bins must be at least 1, got {count}")
