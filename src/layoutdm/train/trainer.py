"""The training loop: the same on one CPU, several GPUs or several machines, exactly resumable.

All processes draw for the whole batch and take their rows of it, so the loss does not depend on
how many of them share the work. Random draws follow from the step number (see `draws`), and
everything else that changes is in `state`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from layoutdm.errors import LayoutdmError
from layoutdm.train import checkpoint as checkpoints
from layoutdm.train.apart import labels_apart
from layoutdm.train.budget import finished, spent, validation_due
from layoutdm.train.config import TrainConfig
from layoutdm.train.corpus import Corpus, make_batch, take_rows, to_device
from layoutdm.train.draws import CONTENT, DROPOUT, NOISE, Draws
from layoutdm.train.networks import Network
from layoutdm.train.objective import Objective, update_average
from layoutdm.train.optim import rate_factor, set_rate
from layoutdm.train.reporter import Evaluation, MetricsFile, Progress, Silent, Watcher
from layoutdm.train.state import Counters, RunState
from layoutdm.train.team import Team
from layoutdm.train.validation import Validation

REPORT_STEPS = 10


class Trainer:
    """One run in one folder. `run` goes on from where the folder's newest checkpoint is."""

    def __init__(
        self,
        network: Network,
        train: Corpus,
        val: Corpus,
        config: TrainConfig,
        folder: Path,
        *,
        watcher: Watcher | None = None,
        tensorboard: bool = False,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.config, self.folder, self.train = config, folder, train
        self.tensorboard, self.stop = tensorboard, stop
        self.team = Team(config.precision)
        self.watcher: Watcher = watcher if watcher and self.team.main else Silent()
        self.draws = Draws(config.seed, train.counts, config.batch_size)
        self.rows = self.team.rows(self.draws.batch_size)
        self.schedule = config.noise_schedule()
        self.state = RunState(network, config, self.team.device)
        apart = torch.from_numpy(labels_apart(train)).double() if config.clear else None
        if apart is not None and not apart.any():
            self.watcher.notice("clear has no effect: no labels keep apart in these data")
        objective = Objective(network, self.schedule, config, apart)
        prepared = self.team.accelerator.prepare(objective, *self.state.optimizers)
        self.objective, *self._optimizers = prepared
        self.validation = Validation.create(val, config)

    def run(self) -> Counters:
        """Train until the budget is used up, the bound stops falling or `stop` says so."""
        config, per_epoch = self.config, self.draws.per_epoch
        self._resume()
        state = self.state
        metrics = self._metrics()
        saved = shown = mark = time.monotonic()
        losses: list[float] = []
        reported = (state.counters.step, state.counters.seconds)
        while not finished(config, state.counters, per_epoch):
            stopping, mark = self._tick(mark)
            if stopping:
                self._save()
                return state.counters
            loss, gradient = self._step()
            losses.append(loss)
            report = state.counters.step % REPORT_STEPS == 0
            if report or mark - shown > 1:  # slow steps are shown one by one
                progress = self._progress(losses, gradient, reported)
                self.watcher.progress(progress)
                shown = mark
                if report:
                    losses, reported = [], (state.counters.step, state.counters.seconds)
                if report and metrics:
                    metrics.write("train", progress)
            if validation_due(config, state.counters, per_epoch):
                self._evaluate(metrics)
            if time.monotonic() - saved > 60 * config.checkpoint_minutes:
                self._save()
                saved = time.monotonic()
        if state.counters.evaluated_step != state.counters.step:
            self._evaluate(metrics)
        state.counters.finished = True
        self._save()
        return state.counters

    def _step(self) -> tuple[float, float]:
        """One update; returns the loss over the whole batch and the gradient's norm."""
        config, state, device = self.config, self.state, self.team.device
        step, rows = state.counters.step, self.rows
        batch = make_batch(
            self.train, self.draws.layouts(step), config, self.draws.generator(CONTENT, step)
        )
        rng = self.draws.generator(NOISE, step)
        level, weight = state.times.draw(len(batch.tokens), rng)
        noise = rng.random((2, *batch.tokens.shape))
        local_level = torch.from_numpy(level[rows]).to(device)
        torch.manual_seed(int(self.draws.generator(DROPOUT, step).integers(2**62)) + rows.start)
        set_rate(state.optimizers, self._rate())
        self.objective.train()
        loss, size = self.objective(
            to_device(take_rows(batch, rows), device),
            local_level,
            torch.from_numpy(weight[rows]).to(device),
            torch.from_numpy(noise[:, rows]).to(device),
            config.kind == "element" and step % config.number_every == 0,
        )
        value = float(self.team.total(loss.detach().double())) / self.team.size
        if not math.isfinite(value):
            raise LayoutdmError(
                f"the loss became {value} at step {step}; choose a lower learning rate, "
                "or go on from the last checkpoint with --resume"
            )
        self.team.accelerator.backward(loss)
        gradient = self.team.accelerator.clip_grad_norm_(state.network.parameters(), config.clip)
        for optimizer in self._optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        state.times.update(local_level, size, self.team.total)
        update_average(state.average, state.network, min(config.ema, (1 + step) / (10 + step)))
        state.counters.step += 1
        return value, float(gradient) if gradient is not None else math.nan

    def _evaluate(self, metrics: MetricsFile | None) -> None:
        """Bound of the averaged weights; keeps them if they are the best so far."""
        state, counters = self.state, self.state.counters
        bound = self.validation.bound(
            state.average,
            self.schedule,
            share=(self.team.rank, self.team.size),
            total=self.team.total,
            device=self.team.device,
        )
        better = bound.nats < counters.best_bound
        if better:
            counters.best_bound, counters.best_bits = bound.nats, bound.bits
            counters.best_step, counters.waited = counters.step, 0
            state.keep_best()
        else:
            counters.waited += 1
        counters.plateau.update(bound.nats)
        counters.evaluated_step, counters.evaluated_seconds = counters.step, counters.seconds
        evaluation = Evaluation(
            step=counters.step,
            epoch=counters.step / self.draws.per_epoch,
            minutes=counters.seconds / 60,
            bound=bound.nats,
            bits=bound.bits,
            number=bound.number,
            best=better,
        )
        self.watcher.evaluation(evaluation)
        if metrics:
            metrics.write("validation", evaluation)

    def _tick(self, mark: float) -> tuple[bool, float]:
        """Count the time since `mark`: whether to stop, and the new mark. All processes agree."""
        now = time.monotonic()
        seconds = self.state.counters.seconds + now - mark
        self.state.counters.seconds, asked = self.team.agree([seconds, float(self.stop())])
        return bool(asked), now

    def _rate(self) -> float:
        counters = self.state.counters
        done = spent(self.config, counters, self.draws.per_epoch)
        factor = rate_factor(self.config, counters.step, done, counters.plateau)
        return self.config.learning_rate * factor

    def _progress(self, losses: list[float], gradient: float, since: tuple[int, float]) -> Progress:
        counters = self.state.counters
        layouts = (counters.step - since[0]) * self.draws.batch_size
        return Progress(
            step=counters.step,
            epoch=counters.step / self.draws.per_epoch,
            minutes=counters.seconds / 60,
            done=min(1.0, spent(self.config, counters, self.draws.per_epoch)),
            loss=float(np.mean(losses)),
            learning_rate=self._rate(),
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
        if not self.team.main:
            return
        scaler = self.team.accelerator.scaler
        extra = {
            "config": self.config.to_dict(),
            "data": self.train.fingerprint,
            "scaler": scaler.state_dict() if scaler is not None else None,
        }
        checkpoints.save(self.folder, self.state.checkpoint(extra), self.watcher.notice)

    def _resume(self) -> None:
        found = checkpoints.load(self.folder, self.watcher.notice)
        if found is None:
            return
        if found.record["data"] != self.train.fingerprint:
            raise LayoutdmError(
                f"{self.folder}: its checkpoint was made with other data than is given now; "
                "give the same data, or train into a new folder"
            )
        self.state.restore(found)
        scaler = self.team.accelerator.scaler
        if scaler is not None and found.record["scaler"]:
            scaler.load_state_dict(found.record["scaler"])
        self.watcher.notice(f"going on from step {found.step}")
