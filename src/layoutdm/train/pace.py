"""How fast a run goes, and so how long it will take and how often it may look at the val split."""

from __future__ import annotations

from dataclasses import dataclass, field

from layoutdm.train.budget import Clock, Looks, in_words, plan_looks, spent
from layoutdm.train.settings import Budget

ESTIMATE_STEPS, ESTIMATE_SECONDS = 20, 3.0  # after which the rate of a run is known


@dataclass
class Pace:
    """The rate of this part of a run; its first step is slow, so it does not count."""

    budget: Budget
    batch_size: int
    per_epoch: int
    finishing: float = 0.0  # share of a budget in minutes for what comes after training
    begun: Clock | None = field(default=None)

    def done(self, clock: Clock) -> float:
        """Share of the budget that is used up."""
        return spent(self.budget, clock, self.per_epoch, self.finishing)

    def begin(self, clock: Clock) -> bool:
        """Whether this was the first step of the part."""
        first = self.begun is None
        self.begun = self.begun or clock
        return first

    def known(self, clock: Clock) -> bool:
        """Whether the rate can be told by now."""
        steps, seconds = self._since(clock)
        return steps >= 1 and (steps >= ESTIMATE_STEPS or seconds >= ESTIMATE_SECONDS)

    def worth_telling(self, clock: Clock) -> bool:
        return self.known(clock) and self._since(clock)[1] >= ESTIMATE_SECONDS

    def left(self, clock: Clock) -> float:
        """Seconds until training ends."""
        found, budget = [], self.budget
        if budget.minutes:
            found.append(60 * budget.minutes * (1 - self.finishing) - clock.seconds)
        limits = [budget.steps, budget.epochs and round(budget.epochs * self.per_epoch)]
        last = min((int(limit) for limit in limits if limit), default=None)
        if last is not None:
            steps, seconds = self._since(clock)
            found.append((last - clock.step) * seconds / max(steps, 1))
        return max(min(found, default=0.0), 0.0)

    def total_steps(self, clock: Clock) -> float:
        """Of the whole run; of a budget in minutes by estimate, else exactly."""
        done = self.done(clock)
        if not self.budget.minutes:
            return clock.step / done if done > 0 else float(self.per_epoch)
        steps, seconds = self._since(clock)
        return clock.step + steps / max(seconds, 1e-3) * self.left(clock)

    def looks(self, clock: Clock) -> Looks:
        layouts = self.total_steps(clock) * self.batch_size
        return plan_looks(layouts, self.budget.validations)

    def in_words(self, clock: Clock, precision: str) -> str:
        steps, seconds = self._since(clock)
        rate = steps * self.batch_size / max(seconds, 1e-3)
        return (
            f"{rate:,.0f} layouts a second in {precision}: about "
            f"{in_words(self.left(clock) / 60)} to go, {self.total_steps(clock):,.0f} steps in all"
        )

    def _since(self, clock: Clock) -> tuple[int, float]:
        begun = self.begun or Clock(0, 0.0)
        return clock.step - begun.step, clock.seconds - begun.seconds
