"""The training loop: the same on one CPU, several GPUs or several machines, exactly resumable.

Every random draw of step k comes from generators seeded with (seed, purpose, k), so the random
state of a run is its step number. All processes draw for the whole batch and take their rows of
it: the loss does not depend on how many processes share the work.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import DistributedDataParallelKwargs, broadcast
from torch import Tensor, nn

from layoutdm.errors import LayoutdmError
from layoutdm.train import checkpoint as checkpoints
from layoutdm.train.config import TrainConfig
from layoutdm.train.corpus import (
    Corpus,
    batches_per_epoch,
    epoch_batches,
    make_batch,
    take_rows,
    to_device,
)
from layoutdm.train.networks import Network
from layoutdm.train.objective import Objective, update_average
from layoutdm.train.optim import Plateau, make_optimizers, rate_factor, set_rate
from layoutdm.train.reporter import Evaluation, MetricsFile, Progress, Silent, Watcher
from layoutdm.train.times import Times
from layoutdm.train.validation import Validation

ORDER, CONTENT, NOISE, DROPOUT = range(4)  # purposes of random draws
REPORT_STEPS = 10


@dataclass
class Counters:
    """Where a run is; with the tensors, all that a checkpoint holds."""

    step: int = 0
    seconds: float = 0.0
    evaluated_step: int = 0
    evaluated_seconds: float = 0.0
    best_bound: float = math.inf
    best_bits: float = math.inf
    best_step: int = 0
    waited: int = 0
    finished: bool = False
    plateau: Plateau = field(default_factory=Plateau)

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Counters:
        return cls(**{**record, "plateau": Plateau(**record["plateau"])})


class Trainer:
    """One run in one folder. `run` goes on from where the folder's checkpoint is."""

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
        self.accelerator = Accelerator(
            # Apple's GPU has no double precision, which the bound needs.
            cpu=not torch.cuda.is_available(),
            mixed_precision=config.precision,
            kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=True)],
        )
        self.watcher: Watcher = watcher or Silent()
        self.main = self.accelerator.is_main_process
        if not self.main:
            self.watcher = Silent()
        self.batch_size = min(config.batch_size, len(train))
        self.per_epoch = batches_per_epoch(len(train), self.batch_size)
        self._check_processes()
        assert isinstance(network, nn.Module)
        self.network: nn.Module = network.to(self.accelerator.device)
        self.average = copy.deepcopy(self.network)
        self.best = {name: value.clone() for name, value in network.state_dict().items()}
        self.schedule = config.noise_schedule()
        optimizers = make_optimizers(self.network, config)
        objective = Objective(network, self.schedule, config)
        self.objective, *wrapped = self.accelerator.prepare(objective, *optimizers)
        self.optimizers, self._wrapped = optimizers, wrapped
        self.validation = Validation.create(val, config)
        self.times = Times(config.times, self.schedule.steps)
        self.counters = Counters()
        self.tensorboard, self.stop = tensorboard, stop
        self._order: tuple[int, list[Any]] = (-1, [])

    # The loop ------------------------------------------------------------------------------

    def run(self) -> Counters:
        """Train until the budget is used up, the bound stops falling or `stop` says so."""
        self._resume()
        metrics = MetricsFile(self.folder, step=self.counters.step, tensorboard=self.tensorboard) \
            if self.main else None
        counters, saved = self.counters, time.monotonic()
        losses: list[float] = []
        mark, reported = time.monotonic(), (counters.step, counters.seconds)
        while not self._finished():
            stopping = self._tick(mark)
            mark = time.monotonic()
            if stopping:
                self._save()
                return counters
            loss, gradient = self._step()
            losses.append(loss)
            if counters.step % REPORT_STEPS == 0 or self._spent() >= 1:
                progress = self._progress(losses, gradient, reported)
                losses, reported = [], (counters.step, counters.seconds)
                self.watcher.progress(progress)
                if metrics:
                    metrics.write("train", progress)
            if self._validation_due():
                evaluation = self._evaluate()
                if metrics:
                    metrics.write("validation", evaluation)
            if time.monotonic() - saved > 60 * self.config.checkpoint_minutes:
                self._save()
                saved = time.monotonic()
        if counters.evaluated_step != counters.step:
            evaluation = self._evaluate()
            if metrics:
                metrics.write("validation", evaluation)
        counters.finished = True
        self._save()
        return counters

    def best_network(self) -> Network:
        """The averaged weights with the lowest bound on the val split."""
        network = copy.deepcopy(self.average).cpu()
        network.load_state_dict(self.best)
        network.eval()
        return network

    def _step(self) -> tuple[float, float]:
        """One update; returns the loss over the whole batch and the gradient's norm."""
        config, counters, device = self.config, self.counters, self.accelerator.device
        step = counters.step
        batch = make_batch(self.train, self._indices(step), config, self._rng(CONTENT, step))
        rng = self._rng(NOISE, step)
        level, weight = self.times.draw(len(batch.tokens), rng)
        noise = rng.random((2, *batch.tokens.shape))
        rows = self._rows()
        local = to_device(take_rows(batch, rows), device)
        local_level = torch.from_numpy(level[rows]).to(device)
        torch.manual_seed(int(self._rng(DROPOUT, step).integers(2**62)) + rows.start)
        set_rate(self.optimizers, self._rate())
        self.objective.train()
        loss, size = self.objective(
            local,
            local_level,
            torch.from_numpy(weight[rows]).to(device),
            torch.from_numpy(noise[:, rows]).to(device),
            config.kind == "element" and step % config.number_every == 0,
        )
        self.accelerator.backward(loss)
        gradient = self.accelerator.clip_grad_norm_(self.network.parameters(), config.clip)
        for optimizer in self._wrapped:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self.times.update(local_level, size, self._total)
        update_average(
            self.average, self.network, min(config.ema, (1 + step) / (10 + step))
        )
        counters.step += 1
        shared = self._total(loss.detach().double().cpu()) / self.accelerator.num_processes
        value = float(shared)
        if not math.isfinite(value):
            raise LayoutdmError(
                f"the loss became {value} at step {counters.step}; "
                "lower the learning rate and go on from the last checkpoint with --resume"
            )
        return value, float(gradient if gradient is not None else math.nan)

    def _evaluate(self) -> Evaluation:
        """Bound of the averaged weights; keeps them if they are the best so far."""
        counters = self.counters
        bound = self.validation.bound(
            self.average,
            self.schedule,
            share=(self.accelerator.process_index, self.accelerator.num_processes),
            total=self._total,
            device=self.accelerator.device,
        )
        better = bound.nats < counters.best_bound
        if better:
            counters.best_bound, counters.best_bits = bound.nats, bound.bits
            counters.best_step, counters.waited = counters.step, 0
            self.best = {k: v.detach().clone() for k, v in self.average.state_dict().items()}
        else:
            counters.waited += 1
        counters.plateau.update(bound.nats)
        counters.evaluated_step, counters.evaluated_seconds = counters.step, counters.seconds
        evaluation = Evaluation(
            counters.step, counters.step / self.per_epoch, counters.seconds / 60,
            bound.nats, bound.bits, bound.number, better,
        )  # fmt: skip
        self.watcher.evaluation(evaluation)
        return evaluation

    # Budget --------------------------------------------------------------------------------

    def _spent(self) -> float:
        """Share of the budget that is used up: the largest of those that are given."""
        config, counters = self.config, self.counters
        shares = [0.0]
        if config.steps:
            shares.append(counters.step / config.steps)
        if config.epochs:
            shares.append(counters.step / max(1, round(config.epochs * self.per_epoch)))
        if config.minutes:
            shares.append(counters.seconds / (60 * config.minutes))
        return max(shares)

    def _finished(self) -> bool:
        patience = self.config.patience
        return self._spent() >= 1 or (patience > 0 and self.counters.waited >= patience)

    def _validation_due(self) -> bool:
        config, counters = self.config, self.counters
        if config.validate_steps is None and config.minutes:
            interval = 60 * min(max(config.minutes / 20, 1.0), config.minutes / 4)
            return counters.seconds - counters.evaluated_seconds >= interval
        interval_steps = config.validate_steps or self.per_epoch
        return counters.step % interval_steps == 0 and counters.step != counters.evaluated_step

    def _tick(self, mark: float) -> bool:
        """Count the time since `mark`; whether to stop here. All processes agree on both."""
        now = torch.tensor(
            [self.counters.seconds + time.monotonic() - mark, float(self.stop())],
            dtype=torch.float64,
        )
        if self.accelerator.num_processes > 1:
            now = broadcast(now.to(self.accelerator.device)).cpu()
        self.counters.seconds = float(now[0])
        return bool(now[1])

    def _rate(self) -> float:
        counters = self.counters
        factor = rate_factor(self.config, counters.step, self._spent(), counters.plateau)
        return self.config.learning_rate * factor

    def _progress(
        self, losses: list[float], gradient: float, since: tuple[int, float]
    ) -> Progress:
        counters = self.counters
        layouts = (counters.step - since[0]) * self.batch_size
        return Progress(
            step=counters.step,
            epoch=counters.step / self.per_epoch,
            minutes=counters.seconds / 60,
            done=min(1.0, self._spent()),
            loss=float(np.mean(losses)),
            learning_rate=self._rate(),
            gradient=gradient,
            layouts_per_second=layouts / max(counters.seconds - since[1], 1e-3),
        )

    # Processes and random draws ------------------------------------------------------------

    def _check_processes(self) -> None:
        processes = self.accelerator.num_processes
        if self.batch_size % processes:
            raise LayoutdmError(
                f"batch size {self.batch_size} cannot be shared by {processes} processes evenly; "
                f"choose a multiple of {processes}"
            )

    def _rows(self) -> slice:
        """This process's part of the batch."""
        size = self.batch_size // self.accelerator.num_processes
        return slice(self.accelerator.process_index * size,
                     (self.accelerator.process_index + 1) * size)

    def _total(self, tensor: Tensor) -> Tensor:
        """Sum over all processes."""
        if self.accelerator.num_processes == 1:
            return tensor
        moved = tensor.to(self.accelerator.device)
        return self.accelerator.reduce(moved, reduction="sum").cpu()  # type: ignore[no-any-return]

    def _rng(self, purpose: int, number: int) -> np.random.Generator:
        return np.random.default_rng([self.config.seed, purpose, number])

    def _indices(self, step: int) -> Any:
        """Layouts of this step's batch; an epoch's order is made when it begins."""
        epoch, position = divmod(step, self.per_epoch)
        if self._order[0] != epoch:
            batches = epoch_batches(self.train.counts, self.batch_size, self._rng(ORDER, epoch))
            self._order = (epoch, list(batches))
        return self._order[1][position]

    # Checkpoints ---------------------------------------------------------------------------

    def _save(self) -> None:
        if not self.main:
            return
        tensors: dict[str, Tensor] = {"times.history": self.times.history,
                                      "times.seen": self.times.seen}
        for name, state in (("network", self.network.state_dict()),
                            ("average", self.average.state_dict()), ("best", self.best)):
            tensors |= {f"{name}.{key}": value for key, value in state.items()}
        for index, optimizer in enumerate(self.optimizers):
            tensors |= checkpoints.flatten_optimizer(f"optimizer{index}", optimizer)
        scaler = self.accelerator.scaler
        record = {
            "counters": asdict(self.counters),
            "config": self.config.to_dict(),
            "data": self.train.fingerprint,
            "scaler": scaler.state_dict() if scaler is not None else None,
        }
        found = checkpoints.Checkpoint(self.counters.step, tensors, record)
        checkpoints.save(self.folder, found, self.watcher.notice)

    def _resume(self) -> None:
        found = checkpoints.load(self.folder, self.watcher.notice)
        if found is None:
            return
        if found.record["data"] != self.train.fingerprint:
            raise LayoutdmError(
                f"{self.folder}: its checkpoint was made with other data than is given now; "
                "give the same data, or train into a new folder"
            )

        def part(name: str) -> dict[str, Tensor]:
            prefix = f"{name}."
            return {
                key.removeprefix(prefix): value.to(self.accelerator.device)
                for key, value in found.tensors.items()
                if key.startswith(prefix)
            }

        self.network.load_state_dict(part("network"))
        self.average.load_state_dict(part("average"))
        self.best = part("best")
        for index, optimizer in enumerate(self.optimizers):
            checkpoints.restore_optimizer(f"optimizer{index}", optimizer, found.tensors)
        self.times.history = found.tensors["times.history"]
        self.times.seen = found.tensors["times.seen"]
        if self.accelerator.scaler is not None and found.record["scaler"]:
            self.accelerator.scaler.load_state_dict(found.record["scaler"])
        self.counters = Counters.from_dict(dict(found.record["counters"]))
        self.counters.finished = False
        self.watcher.notice(f"going on from step {found.step}")
