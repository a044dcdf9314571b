"""Precision, recall, density and coverage of generated features, from nearest neighbours.

>>> import numpy as np
>>> features = np.random.default_rng(0).normal(size=(50, 8))
>>> prdc(features, features)
PRDC(precision=1.0, recall=1.0, density=1.0, coverage=1.0)

Precision and density say how many generated layouts lie among real ones; recall and coverage how
much of the real set is reached. Around each point lies a ball that reaches to its k-th nearest
neighbour of the same set. Precision: share of generated points inside any real ball. Density: real
balls that hold a generated point, over k; may exceed 1. Recall: share of real points inside any
generated ball. Coverage: share of real balls that hold any generated point. Higher is better.

The figures are those of the `prdc` package. Distances are made in blocks of rows, so two sets of
10,000 need some tens of megabytes where the package holds whole matrices of 10,000 by 10,000.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from layoutdm.errors import LayoutdmError
from layoutdm.metrics.fid import check_features
from layoutdm.metrics.pack import Bools, Floats

# Rows of a distance block times columns: 4 million doubles are 32 MB.
BLOCK = 4_000_000


class PRDC(NamedTuple):
    """The four figures."""

    precision: float
    recall: float
    density: float
    coverage: float


@dataclass(frozen=True)
class Reached:
    """What the four figures are means of.

    held: for each generated point, how many real balls hold it. recalled, covered: for each real
    point, whether a generated ball holds it and whether its own ball holds a generated point; one
    column for all generated points, and one more for each share of them that was asked for.
    """

    held: NDArray[np.int64]
    recalled: Bools
    covered: Bools


def prdc(generated: ArrayLike, reference: ArrayLike, k: int = 5) -> PRDC:
    """All four at once; each set needs more than k layouts."""
    found = reached(generated, reference, k)
    return PRDC(
        precision=float((found.held > 0).mean()),
        recall=float(found.recalled[:, 0].mean()),
        density=float(found.held.mean() / k),
        coverage=float(found.covered[:, 0].mean()),
    )


def reached(
    generated: ArrayLike, reference: ArrayLike, k: int, shares: Bools | None = None
) -> Reached:
    """Which points lie in which balls; `shares` (generated, n) picks subsets of the generated."""
    if k < 1:
        raise LayoutdmError(f"k: must be at least 1, got {k}")
    fake, real = check_features(generated, reference, least=1)
    for name, features in (("generated", fake), ("reference", real)):
        if len(features) <= k:
            raise LayoutdmError(
                f"precision, recall, density and coverage with k = {k} need more than {k} layouts "
                f"in each set, but the {name} set has {len(features)}; give more or lower k"
            )
    # Centring does not change distances and makes the fast formula lose fewer digits.
    centre = real.mean(0)
    fake, real = fake - centre, real - centre
    real_radius, fake_radius = _radii(real, k), _radii(fake, k)

    # Counted by matrix products, so that many shares cost little more than one.
    picked = np.ones((len(fake), 1), dtype=np.float32)
    if shares is not None:
        picked = np.concatenate([picked, shares.astype(np.float32)], axis=1)
    held = np.zeros(len(fake), dtype=np.int64)
    recalled = np.zeros((len(real), picked.shape[1]), dtype=bool)
    covered = np.zeros_like(recalled)
    for rows, squared in _blocks(real, fake):
        inside_real = _inside(squared, real_radius[rows][:, None], real[rows], fake)
        held += inside_real.sum(0)
        # A real ball holds some generated point exactly when the nearest one is inside.
        covered[rows] = inside_real.astype(np.float32) @ picked > 0
        inside_fake = _inside(squared, fake_radius[None], real[rows], fake)
        recalled[rows] = inside_fake.astype(np.float32) @ picked > 0
    return Reached(held, recalled, covered)


def _blocks(rows: Floats, columns: Floats) -> Iterator[tuple[slice, Floats]]:
    """Squared distances, a block of rows at a time, by |a|^2 + |b|^2 - 2ab."""
    norms = np.sum(columns**2, axis=1)
    height = max(1, BLOCK // max(len(columns), 1))
    for start in range(0, len(rows), height):
        part = slice(start, start + height)
        block = rows[part]
        squared = (-2.0 * block) @ columns.T
        squared += np.sum(block**2, axis=1)[:, None]
        squared += norms
        yield part, np.maximum(squared, 0.0, out=squared)


def _radii(features: Floats, k: int) -> Floats:
    """Squared distance to the k-th nearest other point, exact to the last digits."""
    radii = np.empty(len(features))
    # The point itself is the nearest of all, hence k + 1; the rest is slack for rounding.
    candidates = min(k + 9, len(features))
    for rows, squared in _blocks(features, features):
        near = np.argpartition(squared, candidates - 1, axis=1)[:, :candidates]
        exact = np.sum((features[rows][:, None] - features[near]) ** 2, axis=2)
        radii[rows] = np.partition(exact, k, axis=1)[:, k]
    return radii


def _inside(squared: Floats, radius: Floats, rows: Floats, columns: Floats) -> Bools:
    """Strictly inside the ball; near ties, which copies of layouts make, are settled exactly."""
    gap = squared - radius
    inside = np.asarray(gap < 0)
    # What the fast formula may be off by: rounding of the largest terms that it adds up.
    error = 1e-12 * (np.sum(rows**2, axis=1).max() + np.sum(columns**2, axis=1).max())
    first, second = np.nonzero(np.abs(gap, out=gap) <= error)
    for start in range(0, len(first), 100_000):
        i, j = first[start : start + 100_000], second[start : start + 100_000]
        limit = np.broadcast_to(radius, squared.shape)[i, j]
        inside[i, j] = np.sum((rows[i] - columns[j]) ** 2, axis=1) < limit
    return inside
