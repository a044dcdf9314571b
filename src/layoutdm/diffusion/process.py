"""The forward process and its exact posterior for any jump, for numpy arrays and torch tensors.

A modality has N ordinary states 0 .. N-1 (PAD is one of them) and MASK = N. The functions here
know nothing of layouts: they serve the five modalities one by one, and the joint vocabulary.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion.schedule import Mass, Schedule

Array = Any  # numpy.ndarray or torch.Tensor: the algebra is the same

Ints = NDArray[np.int64]


def namespace(array: Array) -> Any:
    """The module whose functions take this array: torch for tensors, numpy otherwise."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(array, torch.Tensor) else np


def corrupt(tokens: Array, level: Mass, states: int, uniform: Array, replacement: Array) -> Array:
    """Draw z_t given z_0, from two arrays of uniform numbers in [0, 1) of the tokens' shape.

    The masses broadcast against the tokens; MASK tokens stay MASK.
    """
    xp = namespace(tokens)
    masked = (uniform >= level.keep) & (uniform < level.keep + level.mask)
    replaced = uniform >= level.keep + level.mask
    drawn = xp.clip(xp.floor(replacement * states), 0, states - 1)
    noisy = xp.where(replaced, xp.asarray(drawn, dtype=tokens.dtype), tokens)
    return xp.where(masked | (tokens == states), xp.full_like(tokens, states), noisy)


def posterior(p0: Array, zt: Array, at_s: Mass, at_t: Mass, s_to_t: Mass) -> Array:
    """p(z_s | z_t) = sum_j p(z_0 = j | z_t) q(z_s | z_t, z_0 = j), exactly, for any s <= t.

    p0: (..., N) probabilities of z_0 given z_t. zt: (...) states, N for MASK. The masses are
    scalars or broadcast against p0. Returns (..., N + 1), MASK last; it sums to what p0 sums to.

    With r_j = p0_j / q(z_t | j), the sum over j is keep_s r_k + replace_s / N * sum(r) for an
    ordinary state k and mask_s * sum(r) for MASK, so nothing of size N x N is ever built.
    """
    xp = namespace(p0)
    states = p0.shape[-1]
    masked = (zt == states)[..., None]
    total = p0.sum(-1)[..., None]
    same = zt[..., None] == _states_like(p0)

    # Visible z_t = m: q(m | j) = keep [j = m] + replace / N at level t. It is zero only in
    # degenerate schedules, where the state j is then impossible and takes no part.
    likelihood = same * at_t.keep + at_t.replace / states
    ratio = xp.where(likelihood > 0, p0 / xp.where(likelihood > 0, likelihood, 1.0), 0.0)
    ratio_sum = ratio.sum(-1)[..., None]
    seen = (at_s.keep * ratio + (at_s.replace / states) * ratio_sum) * (
        same * s_to_t.keep + s_to_t.replace / states
    )

    # Masked z_t: q(MASK | j) = mask_t whatever j, so the prediction itself is kept.
    safe = (
        xp.where(at_t.mask > 0, at_t.mask, 1.0)
        if not _is_float(at_t.mask)
        else (at_t.mask if at_t.mask > 0 else 1.0)
    )
    hidden = (at_s.keep * p0 + (at_s.replace / states) * total) * (s_to_t.mask / safe)
    stays = total * (at_s.mask / safe)

    ordinary = xp.where(masked, hidden, seen)
    mask_state = xp.where(masked, stays, 0.0 * total)
    return xp.concatenate([ordinary, mask_state], -1)


def jump(p0: Array, zt: Array, schedule: Schedule, s: int, t: int) -> Array:
    """The posterior of one jump from level t down to level s, the same for all tokens.

    >>> schedule = Schedule()
    >>> p = jump(np.array([0.5, 0.5]), np.array(2), schedule, 0, 50)
    >>> p.round(9).tolist()
    [0.5, 0.5, 0.0]
    """
    return posterior(p0, zt, *jump_masses(schedule, s, t))


def jump_masses(schedule: Schedule, s: int, t: int) -> tuple[Mass, Mass, Mass]:
    """The three masses that the posterior of a jump t -> s needs, as plain numbers."""
    return (
        _scalars(schedule.level(s)),
        _scalars(schedule.level(t)),
        _scalars(schedule.between(s, t)),
    )


def _scalars(mass: Mass) -> Mass:
    keep, mask, replace = (float(v) for v in mass)
    return Mass(keep, mask, replace)  # type: ignore[arg-type]  # numbers broadcast like arrays


def _is_float(value: Any) -> bool:
    return isinstance(value, float)


def _states_like(p0: Array) -> Array:
    xp = namespace(p0)
    if xp is np:
        return np.arange(p0.shape[-1])
    return xp.arange(p0.shape[-1], device=p0.device)
