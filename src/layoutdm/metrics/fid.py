"""Fréchet distance between two sets of features (FID when they come from a feature network).

>>> import numpy as np
>>> features = np.random.default_rng(0).normal(size=(100, 8))
>>> round(fid(features, features), 6)
0.0
>>> round(fid(features, features + 1.0), 6)  # a shift adds its squared length
8.0

Lower is better. A value means something only beside others made with the same network, the same
reference set and about the same number of layouts: few samples raise it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from layoutdm.errors import LayoutdmError
from layoutdm.metrics.pack import Floats


def fid(generated: ArrayLike, reference: ArrayLike) -> float:
    """Fréchet distance of Gaussians fitted to the rows of both arrays; symmetric, at least 0."""
    first, second = check_features(generated, reference, least=2)
    # The triangular factor of the centred features is a root of the covariance: no matrix is
    # squared, so sets with fewer rows than columns need no regularisation.
    return _distance(first.mean(0), _root(first), second.mean(0), _root(second))


def frechet_distance(
    mean_1: ArrayLike, covariance_1: ArrayLike, mean_2: ArrayLike, covariance_2: ArrayLike
) -> float:
    """The same from stored statistics: means (D,) and covariances (D, D)."""
    means = [np.asarray(m, dtype=np.float64) for m in (mean_1, mean_2)]
    covariances = [np.asarray(c, dtype=np.float64) for c in (covariance_1, covariance_2)]
    size = means[0].shape[-1] if means[0].ndim else 0
    if any(m.shape != (size,) for m in means) or any(c.shape != (size, size) for c in covariances):
        raise LayoutdmError(
            "statistics: means must have shape (D,) and covariances (D, D) with one D, got "
            f"{[m.shape for m in means]} and {[c.shape for c in covariances]}"
        )
    roots = [_root_of_covariance(c) for c in covariances]
    return _distance(means[0], roots[0], means[1], roots[1])


def _distance(mean_1: Floats, root_1: Floats, mean_2: Floats, root_2: Floats) -> float:
    """|m1 - m2|^2 + tr(C1) + tr(C2) - 2 tr((C1 C2)^(1/2)), with Ci = Ri' Ri.

    The eigenvalues of C1 C2 are the squared singular values of R1 R2', so the trace of the square
    root is the sum of those singular values: real, never negative, whatever the rank.
    """
    trace = np.linalg.svd(root_1 @ root_2.T, compute_uv=False).sum()
    spread = np.sum(root_1**2) + np.sum(root_2**2) - 2.0 * trace
    return max(float(np.sum((mean_1 - mean_2) ** 2) + spread), 0.0)


def _root(features: Floats) -> Floats:
    centred = features - features.mean(0)
    return np.asarray(np.linalg.qr(centred, mode="r") / np.sqrt(len(features) - 1))


def _root_of_covariance(covariance: Floats) -> Floats:
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray(np.sqrt(np.clip(values, 0.0, None))[:, None] * vectors.T)


def check_features(
    generated: ArrayLike, reference: ArrayLike, *, least: int
) -> tuple[Floats, Floats]:
    """Both as float64 (N, D) arrays with at least `least` rows, or one sentence."""
    arrays = []
    for name, features in (("generated", generated), ("reference", reference)):
        array = np.asarray(features, dtype=np.float64)
        if array.ndim != 2:
            raise LayoutdmError(f"{name} features: shape must be (layouts, D), got {array.shape}")
        if len(array) < least:
            raise LayoutdmError(
                f"{name} features: {len(array)} layouts are too few; at least {least} are needed"
            )
        if not np.isfinite(array).all():
            raise LayoutdmError(f"{name} features: hold a value that is not finite")
        arrays.append(array)
    if arrays[0].shape[1] != arrays[1].shape[1]:
        raise LayoutdmError(
            f"features have {arrays[0].shape[1]} and {arrays[1].shape[1]} columns; both sets must "
            "come from the same network"
        )
    return arrays[0], arrays[1]
