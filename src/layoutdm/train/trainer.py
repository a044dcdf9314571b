"""The training loop of every system: on one CPU, several GPUs or several machines, resumable.

All processes draw for the whole batch and take their rows of it, so the loss does not depend on
how many of them share the work. Random draws follow from the step number (see `draws`), phases
from the share of the budget that is used, and everything else that changes is in `state`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from layoutdm.errors import LayoutdmError
from layoutdm.train import checkpoint as checkpoints
from layoutdm.train.draws import CONTENT, DROPOUT, Draws
from layoutdm.train.learner import Batch, Export, Learner, Moment
from layoutdm.train.optim import decay_of, rate_factor, set_rate, update_average
from layoutdm.train.pace import Pace
from layoutdm.train.reporter import (
    Evaluation,
    MetricsFile,
    Progress,
    RunReport,
    Silent,
    Watcher,
)
from layoutdm.train.settings import Budget, Optimiser
from layoutdm.train.state import RunState
from layoutdm.train.team import Team

REPORT_STEPS = 10
Lock = Callable[[Path], AbstractContextManager[object]]


class Trainer:
    """One run in one folder. `run` goes on from where the folder's newest checkpoint is."""

    def __init__(
        self,
        learner: Learner,
        optimiser: Optimiser,
        budget: Budget,
        folder: Path,
        *,
        settings: Mapping[str, Any] | None = None,
        watcher: Watcher | None = None,
        tensorboard: bool = False,
        stop: Callable[[], bool] = lambda: False,
        lock: Lock = lambda folder: nullcontext(),
        seconds_before: float = 0.0,
    ) -> None:
        """settings: kept in checkpoints for people. seconds_before: what preparing took."""
        if not budget.limited:
            raise LayoutdmError("a run needs a budget; give it minutes, epochs or steps")
        self.learner, self.optimiser, self.budget, self.folder = learner, optimiser, budget, folder
        self.settings, self.tensorboard, self.stop = settings or {}, tensorboard, stop
        self.lock, self._seconds_before = lock, seconds_before
        self.team = Team(budget.precision)
        self.watcher: Watcher = watcher if watcher and self.team.main else Silent()
        self.draws = Draws(budget.seed, learner.counts, budget.batch_size)
        self.rows = self.team.rows(self.draws.batch_size)
        self.state = RunState(learner, optimiser, self.team.device)
        self.pace = Pace(budget, self.draws.batch_size, self.draws.per_epoch, learner.finishing)
        self._told = False  # how long the run will take

    def run(self) -> RunReport:
        """Train until the budget is used up, the bound stops falling or `stop` says so."""
        with self.lock(self.folder):
            return self._run()

    def export(self, folder: Path) -> None:
        """Let the learner write its model folder with the best weights; one process does it."""
        if self.team.main:
            minutes, left = self.budget.minutes, None
            if minutes:  # what is kept for it stays, even where training took longer
                kept = 60 * minutes * self.learner.finishing
                left = max(60 * minutes - self.state.counters.seconds, kept)
            report = self.report()
            notice = self.watcher.notice
            self.learner.export(self.state.best_module(), Export(folder, report, notice, left))
        self.team.wait()

    def _run(self) -> RunReport:
        self._resume()
        counters = self.state.counters
        metrics = self._metrics()
        saved = shown = mark = time.monotonic()
        losses: list[float] = []
        reported = (counters.step, counters.seconds)
        while not self._finished():
            stopping, mark = self._tick(mark)
            if stopping:
                self._save()
                return self.report()
            loss, gradient = self._step()
            losses.append(loss)
            self._know_rate()
            report = counters.step % REPORT_STEPS == 0
            if report or mark - shown > 1:  # slow steps are shown one by one
                progress = self._progress(losses, gradient, reported)
                self.watcher.progress(progress)
                shown = mark
                if report:
                    losses, reported = [], (counters.step, counters.seconds)
                if report and metrics:
                    metrics.write("train", progress)
            if self._validation_due():
                self._evaluate(metrics)
            if time.monotonic() - saved > 60 * self.budget.checkpoint_minutes:
                self._save()
                saved = time.monotonic()
        if counters.evaluated_step != counters.step:
            self._evaluate(metrics)
        counters.finished = True
        self._tick(mark)
        self._save()
        return self.report()

    def _step(self) -> tuple[float, float]:
        """One step of all turns; the loss over the whole batch and the gradient's norm."""
        state, moment = self.state, self._moment()
        step = moment.step
        generator = self.draws.generator(CONTENT, step)
        batch = self.learner.batch(self.draws.layouts(step), generator, moment)
        part = self._own_rows(batch)
        seed = int(self.draws.generator(DROPOUT, step).integers(2**62))
        torch.manual_seed(seed + self.rows.start)
        self.learner.module.train()
        values, norms = [], []
        for turn, optimizers in zip(state.turns, state.optimizers, strict=True):
            settings = turn.optimiser or self.optimiser
            set_rate(optimizers, self._rate(settings))
            with self.team.autocast():
                loss, notes = self.learner.loss(part, moment, turn.name)
            values.append(self._finite(loss, step))
            self.learner.module.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            self.team.mean_gradients(turn.module)
            clip = settings.clip or math.inf
            norms.append(float(torch.nn.utils.clip_grad_norm_(turn.module.parameters(), clip)))
            for optimizer in optimizers:
                optimizer.step()
            self.learner.took(notes, self.team.total)
        update_average(state.average, state.module, decay_of(self.optimiser.average, step))
        state.counters.step += 1
        return float(np.sum(values)), float(np.max(norms))

    def _own_rows(self, batch: Batch) -> Batch:
        device = self.team.device
        return {name: tensor[self.rows].to(device) for name, tensor in batch.items()}

    def _finite(self, loss: Tensor, step: int) -> float:
        value = float(self.team.total(loss.detach().double())) / self.team.size
        if not math.isfinite(value):
            raise LayoutdmError(
                f"the loss became {value} at step {step}; choose a lower learning rate, "
                "or go on from the last checkpoint with --resume"
            )
        return value

    def _evaluate(self, metrics: MetricsFile | None) -> None:
        """Bound of the averaged weights; keeps them if they are the best of this phase."""
        state, counters = self.state, self.state.counters
        effort = (counters.looks or self.pace.looks(counters.now)).effort
        with torch.no_grad():
            found = self.learner.validate(state.average.eval(), effort)
        bound, *_ = self.team.agree([found.bound])
        phase = self.learner.phase(self._done())
        if phase != counters.best_phase:
            counters.lowest_bound, counters.best_phase = math.inf, phase
        if bound < counters.lowest_bound:
            counters.lowest_bound, counters.waited = bound, 0
        else:
            counters.waited += 1
        better = bound <= counters.lowest_bound * (1 + self.learner.slack(phase))
        if better:
            counters.best_bound, counters.best_figures = bound, dict(found.figures)
            counters.best_step = counters.step
            state.keep_best()
        counters.plateau.update(bound)
        counters.evaluated_step, counters.evaluated_seconds = counters.step, counters.seconds
        evaluation = Evaluation(
            step=counters.step,
            epoch=counters.step / self.draws.per_epoch,
            minutes=counters.seconds / 60,
            bound=bound,
            figures=dict(found.figures),
            phase=phase,
            best=better,
        )
        self.watcher.evaluation(evaluation)
        if metrics:
            metrics.write("validation", evaluation)

    def _validation_due(self) -> bool:
        """Evenly over the budget, so that a run in steps or epochs repeats it after a resume."""
        counters = self.state.counters
        if counters.looks is None:
            return False
        since = self._done() - self.pace.done(counters.evaluated)
        return since >= 1 / counters.looks.times - 1e-9

    def _know_rate(self) -> None:
        """After the first seconds: how often to validate, and how long it all will take."""
        counters, clock = self.state.counters, self.state.counters.now
        first = self.pace.begin(clock)
        exact = not self.budget.minutes  # then it does not depend on the clock
        if counters.looks is None and (exact or (not first and self.pace.known(clock))):
            counters.looks = self.pace.looks(clock)
        if not self._told and not first and self.pace.worth_telling(clock):
            self._told = True
            self.watcher.notice(self.pace.in_words(clock, self.team.precision))

    def _tick(self, mark: float) -> tuple[bool, float]:
        """Count the time since `mark`: whether to stop, and the new mark. All processes agree."""
        now = time.monotonic()
        seconds = self.state.counters.seconds + now - mark
        self.state.counters.seconds, asked = self.team.agree([seconds, float(self.stop())])
        return bool(asked), now

    def _finished(self) -> bool:
        """Whether the budget is used up or the bound has not fallen for too long."""
        return self._done() >= 1 or self.report().stopped_early

    def _done(self) -> float:
        return self.pace.done(self.state.counters.now)

    def _moment(self) -> Moment:
        return Moment(self.state.counters.step, min(self._done(), 1.0))

    def _rate(self, settings: Optimiser) -> float:
        counters = self.state.counters
        factor = rate_factor(settings, counters.step, self._done(), counters.plateau)
        return settings.learning_rate * factor

    def report(self) -> RunReport:
        """Where the run is."""
        counters, patience = self.state.counters, self.budget.patience
        return RunReport(
            complete=counters.finished,
            steps=counters.step,
            epochs=counters.step / self.draws.per_epoch,
            minutes=counters.seconds / 60,
            bound=counters.best_bound,
            figures=dict(counters.best_figures),
            best_step=counters.best_step,
            stopped_early=patience > 0 and counters.waited >= patience,
            parameters=sum(parameter.numel() for parameter in self.state.module.parameters()),
            precision=self.team.precision,
        )

    def _progress(self, losses: list[float], gradient: float, since: tuple[int, float]) -> Progress:
        counters = self.state.counters
        layouts = (counters.step - since[0]) * self.draws.batch_size
        return Progress(
            step=counters.step,
            epoch=counters.step / self.draws.per_epoch,
            minutes=counters.seconds / 60,
            done=min(1.0, self._done()),
            left=self.pace.left(counters.now) / 60,
            loss=float(np.mean(losses)),
            learning_rate=self._rate(self.optimiser),
            gradient=gradient,
            layouts_per_second=layouts / max(counters.seconds - since[1], 1e-3),
        )

    def _metrics(self) -> MetricsFile | None:
        """Only the first process writes."""
        if not self.team.main:
            return None
        step = self.state.counters.step
        return MetricsFile(
            self.folder, step=step, tensorboard=self.tensorboard, notice=self.watcher.notice
        )

    def _save(self) -> None:
        if self.team.main:
            extra = {"settings": self.settings, "data": self.learner.fingerprint}
            checkpoints.save(self.folder, self.state.checkpoint(extra), self.watcher.notice)

    def _resume(self) -> None:
        found = checkpoints.load(self.folder, self.watcher.notice)
        if found is None:
            self.state.counters.seconds = self._seconds_before
            return
        if found.record["data"] != self.learner.fingerprint:
            raise LayoutdmError(
                f"{self.folder}: its checkpoint was made with other data than is given now; "
                "give the same data, or train into a new folder"
            )
        self.state.restore(found)
        self.watcher.notice(f"going on from step {found.step}")
