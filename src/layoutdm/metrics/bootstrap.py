"""Bootstrap confidence intervals: how far a figure moves with the layouts that happen to be there.

>>> import numpy as np
>>> interval = bootstrap_mean(np.random.default_rng(0).normal(5.0, 1.0, 400))
>>> bool(interval.low < 5.0 < interval.high)
True

They tell the noise of the sample, not that of training: two models trained with different seeds
often differ by more than either's interval.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from layoutdm.errors import LayoutdmError
from layoutdm.metrics.fid import check_features, fid
from layoutdm.metrics.pack import Bools, Floats
from layoutdm.metrics.prdc import reached

# Indices drawn at once: bounds memory for large sets.
_BLOCK = 2_000_000


class Interval(NamedTuple):
    """A figure and where it lies with probability `level`."""

    value: float
    low: float
    high: float
    level: float


def bootstrap_mean(
    values: ArrayLike, *, level: float = 0.95, resamples: int = 1000, seed: int = 0
) -> Interval:
    """Percentile interval of a mean over layouts; NaN entries (no figure) are left out."""
    data = np.asarray(values, dtype=np.float64).ravel()
    data = data[~np.isnan(data)]
    if not data.size:
        raise LayoutdmError("no values: a mean over nothing has no interval; give at least one")
    _check(level, resamples)
    rng = np.random.default_rng(seed)
    means = np.empty(resamples)
    step = max(1, _BLOCK // len(data))
    for start in range(0, resamples, step):
        count = min(step, resamples - start)
        drawn = rng.integers(0, len(data), size=(count, len(data)))
        means[start : start + count] = data[drawn].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(data.mean()), float(low), float(high), level)


def bootstrap_fid(
    generated: ArrayLike,
    reference: ArrayLike,
    *,
    level: float = 0.95,
    resamples: int = 100,
    seed: int = 0,
) -> Interval:
    """Interval of FID over redraws of the generated layouts, the reference being fixed.

    A redraw repeats layouts, which raises its FID above the figure itself. Only the spread of the
    redraws is therefore used: figure plus and minus so many of their standard deviations.
    """
    first, second = check_features(generated, reference, least=2)
    _check(level, resamples)
    value = fid(first, second)
    spread = float(np.std(_redraws(first, _distance_to(second), resamples, seed), ddof=1))
    reach = NormalDist().inv_cdf((1 + level) / 2) * spread
    return Interval(value, max(value - reach, 0.0), value + reach, level)


def bootstrap_prdc(
    generated: ArrayLike,
    reference: ArrayLike,
    k: int = 5,
    *,
    level: float = 0.95,
    resamples: int = 100,
    seed: int = 0,
) -> dict[str, Interval]:
    """Intervals of precision, recall, density and coverage, the reference being fixed.

    Precision and density are means over the generated layouts. Recall and coverage ask whether any
    generated layout reaches a real one, so redraws, which repeat layouts, would reach fewer; they
    are taken from random halves instead, whose spread is that of the whole set when the halves are
    drawn without repeats. The balls stay those of the whole set.
    """
    _check(level, resamples)
    size = len(np.asarray(generated))
    rng = np.random.default_rng(seed)
    ranks = np.argsort(rng.random((size, resamples)), axis=0)
    found = reached(generated, reference, k, ranks < size // 2)
    reach = NormalDist().inv_cdf((1 + level) / 2)

    def spread(hits: Bools) -> Interval:
        shares = hits.mean(axis=0)
        value, off = float(shares[0]), reach * float(np.std(shares[1:], ddof=1))
        return Interval(value, max(value - off, 0.0), min(value + off, 1.0), level)

    return {
        "precision": bootstrap_mean(found.held > 0, level=level, seed=seed),
        "recall": spread(found.recalled),
        "density": bootstrap_mean(found.held / k, level=level, seed=seed),
        "coverage": spread(found.covered),
    }


def _distance_to(reference: Floats) -> Callable[[Floats, Floats], float]:
    """FID against one reference as a function of mean and covariance, its own root made once."""
    mean = reference.mean(0)
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(reference, rowvar=False)))
    root = np.sqrt(np.clip(values, 0.0, None))[:, None] * vectors.T

    def distance(other: Floats, covariance: Floats) -> float:
        product = np.linalg.eigvalsh(root @ covariance @ root.T)
        trace = np.sqrt(np.clip(product, 0.0, None)).sum()
        spread = np.sum(root**2) + np.trace(covariance) - 2 * trace
        return float(np.sum((mean - other) ** 2) + spread)

    return distance


def _redraws(
    features: Floats, distance: Callable[[Floats, Floats], float], resamples: int, seed: int
) -> Floats:
    rng = np.random.default_rng(seed)
    size = len(features)
    results = np.empty(resamples)
    for number in range(resamples):
        # How often each row is drawn serves as its weight: one matrix product, no copy of rows.
        weight = np.bincount(rng.integers(0, size, size), minlength=size).astype(np.float64)
        mean = weight @ features / size
        centred = features - mean
        covariance = (centred * weight[:, None]).T @ centred / (size - 1)
        results[number] = distance(mean, covariance)
    return results


def _check(level: float, resamples: int) -> None:
    if not 0 < level < 1:
        raise LayoutdmError(f"level: must lie between 0 and 1, got {level}")
    if resamples < 2:
        raise LayoutdmError(f"resamples: must be at least 2, got {resamples}")
