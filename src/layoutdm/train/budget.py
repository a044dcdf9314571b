"""How much of a run is done, and when it is time to look at the bound."""

from __future__ import annotations

from layoutdm.train.config import TrainConfig
from layoutdm.train.state import Counters


def spent(config: TrainConfig, counters: Counters, per_epoch: int) -> float:
    """Share of the budget that is used up: the largest, where several budgets are given."""
    shares = [0.0]
    if config.steps:
        shares.append(counters.step / config.steps)
    if config.epochs:
        shares.append(counters.step / max(1, round(config.epochs * per_epoch)))
    if config.minutes:
        shares.append(counters.seconds / (60 * config.minutes))
    return max(shares)


def finished(config: TrainConfig, counters: Counters, per_epoch: int) -> bool:
    """Whether the budget is used up or the bound has not fallen for too long."""
    impatient = config.patience > 0 and counters.waited >= config.patience
    return impatient or spent(config, counters, per_epoch) >= 1


def validation_due(config: TrainConfig, counters: Counters, per_epoch: int) -> bool:
    """By steps; by the clock only where the budget is one of time and no steps are set.

    A run whose budget is counted in steps or epochs must validate at the same steps after a
    resume, because the best weights, the plateau and the early stop depend on it.
    """
    if config.validate_steps is None and config.minutes:
        interval = 60 * min(max(config.minutes / 20, 1.0), config.minutes / 4)
        return counters.seconds - counters.evaluated_seconds >= interval
    every = config.validate_steps or per_epoch
    return counters.step % every == 0 and counters.step != counters.evaluated_step
