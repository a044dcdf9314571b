"""The priors of weak wishes: what is added to the log-probabilities of bins near a wished value.

>>> import numpy as np
>>> centres = np.array([0.1, 0.5, 0.58, 0.9])
>>> log_prior(centres, about=0.55, within=0.1, strength=3.0).tolist()
[0.0, 3.0, 3.0, 0.0]

d is the distance of a bin's centre from the wished value, m the margin, strength the weight:

| prior    | paper's form               | published code's form, d from the nearest bin's centre |
|----------|----------------------------|--------------------------------------------------------|
| default  | 1 where d < m, else 0      | 1 where d < m, else 0                                  |
| gaussian | d^2 where d < m, else 0 *  | -d^2                                                   |
| negation | 0 where d < m, else -inf   | 0 where d < m, else -1                                 |

* as printed; it prefers far bins, a sign error. Strength times prior is added to log p of the
attribute's own bins, never to PAD or MASK.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from layoutdm.spec import Condition
from layoutdm.spec.priors import NO_PRIOR, Prior

Floats = NDArray[np.float64]


def log_prior(
    centres: Floats,
    about: ArrayLike,
    within: ArrayLike = 0.1,
    strength: ArrayLike = 3.0,
    prior: ArrayLike = Prior.DEFAULT_PAPER,
) -> Floats:
    """What to add to the log-probabilities of the K bins of one attribute; shape (..., K).

    `about`, `within`, `strength` and `prior` broadcast against each other; where `about` is NaN
    or `prior` is NO_PRIOR the result is 0. A wished value beyond the outermost bins, as noisy
    drafts have them, counts as the outermost bin's.
    """
    given = [np.asarray(value, np.float64) for value in (about, within, strength, prior)]
    about_, within_, strength_, prior_ = (one[..., None] for one in np.broadcast_arrays(*given))
    none = np.isnan(about_) | (prior_ == NO_PRIOR)
    wished = np.clip(np.where(none, 0.0, about_), centres.min(), centres.max())
    nearest = centres[np.abs(centres - wished).argmin(axis=-1)][..., None]
    wished = np.where(prior_ % 2 == 1, nearest, wished)  # odd numbers are the code's forms
    distance = np.abs(centres - wished)
    near = distance < np.where(none, 1.0, within_)
    weight = np.where(none, 0.0, strength_)
    # The margin may hold no bin at all; a prior that rules out every bin would say nothing.
    near_or_nearest = near | (centres == nearest)
    value = np.select(
        [prior_ == kind for kind in Prior],
        [
            weight * near,
            weight * near,
            weight * np.where(near, distance**2, 0.0),
            -weight * distance**2,
            np.where(near_or_nearest | (weight == 0), 0.0, -np.inf),
            -weight * ~near,
        ],
        0.0,
    )
    return np.where(none, 0.0, value)


def condition_priors(condition: Condition, centres: Sequence[Floats]) -> list[Floats] | None:
    """The priors of a condition's n elements: for x, y, width, height an array (n, K of it).

    None when the condition has no `about` wish, so that a sampler can skip the addition.
    """
    if not np.isfinite(condition.about).any():
        return None
    wishes = (condition.about, condition.within, condition.strength, condition.prior)
    return [
        log_prior(np.asarray(bins, np.float64), *(values[:, a] for values in wishes))
        for a, bins in enumerate(centres)
    ]
