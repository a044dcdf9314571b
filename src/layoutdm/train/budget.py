"""How much of a run is done, how often to look at the val split, and how long it will take."""

from __future__ import annotations

from dataclasses import dataclass

from layoutdm.train.settings import Budget

VALIDATION = 0.04  # of the work at most: a look costs a forward pass, a step costs three
FEWEST_LOOKS, MOST_LOOKS = 64, 10_000  # of one validation


@dataclass(frozen=True)
class Clock:
    """Steps and seconds of a run so far; `share` is that of minutes which training may use."""

    step: int
    seconds: float


def spent(budget: Budget, clock: Clock, per_epoch: int, finishing: float = 0.0) -> float:
    """Share of the budget that is used up: the largest, where several limits are given.

    finishing: of a budget in minutes, the share that is kept for what comes after training.

    >>> spent(Budget(steps=100, minutes=1), Clock(10, 30), per_epoch=5)
    0.5
    """
    shares = [0.0]
    if budget.steps:
        shares.append(clock.step / budget.steps)
    if budget.epochs:
        shares.append(clock.step / max(1, round(budget.epochs * per_epoch)))
    if budget.minutes:
        shares.append(clock.seconds / (60 * budget.minutes * (1 - finishing)))
    return max(shares)


@dataclass(frozen=True)
class Looks:
    """How often a run validates, and how many layouts may go through the network each time."""

    times: int
    effort: int


def plan_looks(layouts: float, wished: int) -> Looks:
    """For a run that will see so many layouts: at most one in twenty-five goes into validation.

    >>> plan_looks(1_000_000, 20)
    Looks(times=20, effort=2000)
    >>> plan_looks(4_000, 20)  # two minutes of a large network
    Looks(times=2, effort=80)
    """
    allowed = VALIDATION * layouts
    times = int(max(1, min(wished, allowed // FEWEST_LOOKS)))
    effort = int(min(max(allowed / times, FEWEST_LOOKS), MOST_LOOKS))
    return Looks(times, effort)


def in_words(minutes: float) -> str:
    """A duration as people say it.

    >>> in_words(0.4), in_words(12.2), in_words(200)
    ('24 seconds', '12 minutes', '3.3 hours')
    """
    if minutes < 1.5:
        return f"{60 * minutes:.0f} seconds"
    return f"{minutes:.0f} minutes" if minutes < 100 else f"{minutes / 60:.1f} hours"
