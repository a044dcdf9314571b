"""The loop in one process: learns, repeats exactly, resumes exactly, validates without a trace."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from layoutdm.errors import LayoutdmError
from layoutdm.tokens import Tokenizer, uniform_bins
from layoutdm.train.budget import Clock, plan_looks
from layoutdm.train.corpus import pack
from layoutdm.train.layoutdm import LayoutDMLearner, Splits
from layoutdm.train.learner import Batch, Export, Ints, Learner, Moment, Notes, Turn, Validated
from layoutdm.train.networks import build
from layoutdm.train.optim import (
    Plateau,
    decay_of,
    decayed,
    make_optimizers,
    rate_factor,
    update_average,
)
from layoutdm.train.pace import Pace
from layoutdm.train.recipe import Recipe, Settings, Shape, preset
from layoutdm.train.reporter import MetricsFile, Silent, read_metrics
from layoutdm.train.settings import Budget, Optimiser
from layoutdm.train.trainer import Trainer
from training_samples import LABELS, make_layouts

TOKENIZER = Tokenizer(LABELS, uniform_bins(8), 8)
TRAIN, VAL = pack(make_layouts(60, 1), TOKENIZER), pack(make_layouts(16, 2), TOKENIZER)
BUDGET = Budget(batch_size=16, steps=10, validations=3, precision="fp32")
SMALL = Settings(network=Shape(width=16, layers=1, lines=9), budget=BUDGET)

RECIPES = {
    "recipe": SMALL.changed("recipe", apart_from=0.4),
    "plain": SMALL.changed("recipe", apart=0.0).changed("optimiser", schedule="constant"),
    "muon": SMALL.changed("optimiser", kind="muon"),
    "paper": Settings(
        network=Shape("paper", 16, 1, repeats=False),
        recipe=replace(preset("paper").recipe),
        optimiser=preset("paper").optimiser,
        budget=BUDGET,
    ),
}


class Heard(Silent):
    def __init__(self) -> None:
        self.notices: list[str] = []

    def notice(self, text: str) -> None:
        self.notices.append(text)


def learner_of(settings: Settings, data: Splits | None = None) -> LayoutDMLearner:
    torch.manual_seed(settings.budget.seed)
    network = build(settings.network_config(TOKENIZER))
    return LayoutDMLearner(
        network, data or Splits(TRAIN, VAL), settings, lambda finished, out: None
    )


def make_trainer(
    settings: Settings, folder: Path, stop: Callable[[], bool] = lambda: False, **options: object
) -> Trainer:
    learner = learner_of(settings)
    return Trainer(
        learner, settings.optimiser, settings.budget, folder, stop=stop, **options  # type: ignore[arg-type]
    )  # fmt: skip


def after(steps: int) -> Callable[[], bool]:
    """A wish to stop that comes after so many steps."""
    asked = iter(range(10_000))
    return lambda: next(asked) >= steps


def weights(trainer: Trainer) -> list[torch.Tensor]:
    state = trainer.state
    return [*state.module.state_dict().values(), *state.average.state_dict().values(),
            *state.best.values(), *state.learner.state().values()]  # fmt: skip


def same(one: Trainer, two: Trainer) -> bool:
    return all(torch.equal(a, b) for a, b in zip(weights(one), weights(two), strict=True))


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_run_that_was_stopped_ends_as_one_that_was_not(recipe: str, tmp_path: Path) -> None:
    settings = RECIPES[recipe]
    whole = make_trainer(settings, tmp_path / "whole")
    report = whole.run()
    assert report.complete
    assert report.steps == 10
    for steps in (3, 4):  # stopped twice, once between validations, before and after the phases
        assert not make_trainer(settings, tmp_path / "parts", after(steps)).run().complete
    heard = Heard()
    resumed = make_trainer(settings, tmp_path / "parts", watcher=heard)
    resumed.run()
    assert heard.notices[0] == "going on from step 7"
    assert same(whole, resumed)
    found = [
        [(e["step"], e["bound"], e["phase"]) for e in lines if e["kind"] == "validation"]
        for lines in (read_metrics(tmp_path / n / "metrics.jsonl") for n in ("whole", "parts"))
    ]
    assert found[0] == found[1]
    assert len(found[0]) >= 1


def test_the_seed_decides_everything(tmp_path: Path) -> None:
    settings = RECIPES["recipe"]
    one, two = (make_trainer(settings, tmp_path / name) for name in ("a", "b"))
    other = make_trainer(settings.changed("budget", seed=1), tmp_path / "c")
    for trainer in (one, two, other):
        trainer.run()
    assert same(one, two)
    assert not same(one, other)


@pytest.mark.slow
def test_training_lowers_the_figure_and_keeps_the_best(tmp_path: Path) -> None:
    settings = SMALL.changed("recipe", apart=0.0)
    settings = settings.changed("optimiser", learning_rate=1e-2, warm_up=5)
    trainer = make_trainer(settings.changed("budget", steps=150), tmp_path)
    effort = 64
    with torch.no_grad():
        before = trainer.learner.validate(trainer.state.average.eval(), effort)
    report = trainer.run()
    looks = trainer.state.counters.looks
    assert looks is not None
    assert report.bound < 0.8 * before.bound
    with torch.no_grad():
        again = trainer.learner.validate(trainer.state.best_module(), looks.effort)
    assert report.bound == pytest.approx(again.bound)


@pytest.mark.parametrize("recipe", ["recipe", "paper"])
def test_validation_repeats_and_leaves_no_trace(recipe: str, tmp_path: Path) -> None:
    trainer = make_trainer(RECIPES[recipe], tmp_path)
    trainer._step()
    before = [value.clone() for value in weights(trainer)]
    torch.manual_seed(5)
    state = torch.get_rng_state()
    with torch.no_grad():
        first = trainer.learner.validate(trainer.state.average.eval(), 40)
        second = trainer.learner.validate(trainer.state.average, 40)
    assert first == second
    assert torch.equal(state, torch.get_rng_state())
    assert all(torch.equal(a, b) for a, b in zip(before, weights(trainer), strict=True))


def test_the_best_weights_are_those_of_the_last_phase(tmp_path: Path) -> None:
    class Falling(Fitting):
        """The figure rises from validation to validation, so the first would be the best."""

        def phase(self, done: float) -> str:
            return "late" if done > 0.5 else "early"

        def validate(self, module: torch.nn.Module, effort: int) -> Validated:
            self.looks += 1
            return Validated(float(self.looks))

    learner = Falling()
    trainer = Trainer(learner, Optimiser(), replace(BUDGET, steps=400, validations=4), tmp_path)
    report = trainer.run()
    phases = [e["phase"] for e in read_metrics(tmp_path / "metrics.jsonl") if "phase" in e]
    assert "early" in phases
    assert report.best_step > 200
    assert report.bound == phases.index("late") + 1


def test_later_weights_are_kept_where_a_phase_teaches_more_than_the_bound(tmp_path: Path) -> None:
    class Slack(Fitting):
        """The figure rises slowly, then by far: 100, 100.5, 101, 150."""

        def slack(self, phase: str) -> float:
            return 0.01

        def validate(self, module: torch.nn.Module, effort: int) -> Validated:
            self.looks += 1
            return Validated([100.0, 100.5, 101.0, 150.0][self.looks - 1])

    trainer = Trainer(Slack(), Optimiser(), replace(BUDGET, steps=400, validations=4), tmp_path)
    report = trainer.run()
    assert (report.best_step, report.bound) == (300, 101.0)


def test_a_budget_of_minutes_is_one_of_the_whole_command(tmp_path: Path) -> None:
    settings = RECIPES["recipe"].changed("budget", steps=None, minutes=0.05)
    first = make_trainer(settings, tmp_path, after(2), seconds_before=0.5).run()
    assert 0.5 < 60 * first.minutes < 3 + 5
    trainer = make_trainer(settings, tmp_path, seconds_before=9.0)  # counted in the first part only
    report = trainer.run()
    assert report.complete
    assert 60 * report.minutes >= 3 * (1 - trainer.learner.finishing)


def test_early_stopping(tmp_path: Path) -> None:
    class Stuck(Fitting):
        def validate(self, module: torch.nn.Module, effort: int) -> Validated:
            return Validated(1.0)

    budget = replace(BUDGET, steps=400, validations=20, patience=2)
    report = Trainer(Stuck(), Optimiser(), budget, tmp_path).run()
    assert report.complete
    assert report.stopped_early
    assert report.steps < 400


def test_other_data_cannot_be_resumed(tmp_path: Path) -> None:
    settings = RECIPES["recipe"]
    make_trainer(settings, tmp_path, after(1)).run()
    other = learner_of(settings, Splits(VAL, VAL))
    with pytest.raises(LayoutdmError, match="made with other data"):
        Trainer(other, settings.optimiser, settings.budget, tmp_path).run()


def test_a_loss_that_is_not_a_number_is_said(tmp_path: Path) -> None:
    trainer = make_trainer(RECIPES["recipe"], tmp_path)
    with torch.no_grad():
        next(trainer.state.module.parameters()).fill_(float("nan"))
    with pytest.raises(LayoutdmError, match="the loss became nan at step 0"):
        trainer.run()


def test_a_run_needs_a_budget(tmp_path: Path) -> None:
    with pytest.raises(LayoutdmError, match="give it minutes, epochs or steps"):
        Trainer(Fitting(), Optimiser(), Budget(), tmp_path)


def test_the_lock_is_held_while_the_run_writes(tmp_path: Path) -> None:
    seen: list[str] = []

    @contextlib.contextmanager
    def lock(folder: Path) -> Iterator[None]:
        seen.append(folder.name)
        yield
        assert (folder / "metrics.jsonl").exists()
        seen.append("free")

    Trainer(Fitting(), Optimiser(), replace(BUDGET, steps=3), tmp_path / "run", lock=lock).run()
    assert seen == ["run", "free"]


class Fitting(Learner):
    """The smallest learner: one number, towards the mean number of elements."""

    name = "fitting"

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.module = torch.nn.ModuleDict(
            {"one": torch.nn.Linear(1, 1), "two": torch.nn.Linear(1, 1)}
        )
        self.counts, self.fingerprint = TRAIN.counts, "fitting"
        self.turned: list[str] = []
        self.looks = 0
        self.exported: list[Export] = []

    def batch(self, layouts: Ints, rng: np.random.Generator, moment: Moment) -> Batch:
        return {"count": torch.from_numpy(self.counts[layouts]).float()}

    def loss(self, batch: Batch, moment: Moment, turn: str) -> tuple[torch.Tensor, Notes]:
        part = "one" if turn == "all" else turn
        guess = self.module[part](torch.ones(len(batch["count"]), 1))[:, 0]  # type: ignore[index]
        return ((guess - batch["count"]) ** 2).mean(), {"turn": torch.tensor(len(turn))}

    def took(self, notes: Notes, total: Callable[[torch.Tensor], torch.Tensor]) -> None:
        self.turned.append(str(int(total(notes["turn"]))))

    def validate(self, module: torch.nn.Module, effort: int) -> Validated:
        return Validated(float((module["one"](torch.ones(1, 1)) - self.counts.mean()) ** 2))  # type: ignore[index]

    def export(self, module: torch.nn.Module, out: Export) -> None:
        self.exported.append(out)


def test_any_learner_trains_and_exports(tmp_path: Path) -> None:
    learner = Fitting()
    optimiser = Optimiser(learning_rate=0.1, warm_up=0)
    trainer = Trainer(learner, optimiser, replace(BUDGET, steps=200), tmp_path)
    report = trainer.run()
    assert report.bound < 0.05
    assert report.parameters == 4
    trainer.export(tmp_path / "model")
    assert learner.exported[0].folder == tmp_path / "model"
    assert learner.exported[0].report.complete


def test_turns_change_their_own_weights_only(tmp_path: Path) -> None:
    class Two(Fitting):
        def turns(self) -> tuple[Turn, ...]:
            one, two = self.module["one"], self.module["two"]  # type: ignore[index]
            return Turn("one", one, Optimiser(learning_rate=0.1)), Turn("two", two)

    learner = Two()
    before = {name: value.clone() for name, value in learner.module.state_dict().items()}
    slow = Optimiser(learning_rate=1e-9, warm_up=0)
    Trainer(learner, slow, replace(BUDGET, steps=5), tmp_path).run()
    moved = {
        name: float((value - before[name]).abs().max())
        for name, value in learner.module.state_dict().items()
    }
    assert moved["one.bias"] > 1e-4
    assert moved["two.bias"] < 1e-7
    assert learner.turned == ["3", "3"] * 5


def test_only_weights_of_linear_layers_decay() -> None:
    for settings in RECIPES.values():
        network = build(settings.network_config(TOKENIZER))
        assert isinstance(network, torch.nn.Module)
        decaying = decayed(network)
        names = {name for name, value in network.named_parameters() if id(value) in decaying}
        assert all(name.endswith(".weight") for name in names)
        assert not any(word in name for name in names for word in ("embed", "norm1.table", "first"))
        groups = [group for optimizer in make_optimizers(network, settings.optimiser)
                  for group in optimizer.param_groups]  # fmt: skip
        assert sum(len(group["params"]) for group in groups) == len(list(network.parameters()))
        for group in groups:
            inside = {id(value) in decaying for value in group["params"]}
            assert inside == {group["weight_decay"] > 0}


def test_learning_rates() -> None:
    cosine = Optimiser(warm_up=10)
    assert rate_factor(cosine, 0, 0.0, Plateau()) == pytest.approx(0.1)
    assert rate_factor(cosine, 50, 0.5, Plateau()) == pytest.approx(0.51)
    assert rate_factor(cosine, 99, 1.0, Plateau()) == pytest.approx(0.02)
    plateau, published = Plateau(), preset("paper").optimiser
    for bound in (10.0, 9.0, 8.95, 8.95, 8.95):
        plateau.update(bound)
    assert rate_factor(published, 5, 0.9, plateau) == 0.5
    assert rate_factor(Optimiser(schedule="constant", warm_up=0), 99, 0.9, plateau) == 1


def test_the_average_is_as_wide_as_it_says() -> None:
    """Of the numbers 1 to n: their mean lies behind n, with the wished standard deviation."""
    steps, width = 4000, 0.05
    weight = np.zeros(steps)
    for step in range(steps):
        decay = decay_of(width, step)
        weight *= decay
        weight[step] += 1 - decay
    at = (np.arange(steps) + 1) / steps
    mean = (weight * at).sum()
    assert weight.sum() == pytest.approx(1.0)
    assert np.sqrt((weight * (at - mean) ** 2).sum()) == pytest.approx(width, rel=0.05)
    assert decay_of(0.0, 100) == 0.0


def test_buffers_are_copied_into_the_average() -> None:
    one, average = torch.nn.BatchNorm1d(2), torch.nn.BatchNorm1d(2)
    one(torch.randn(8, 2) + 5)
    update_average(average, one, 0.9)
    assert torch.equal(average.running_mean, one.running_mean)  # type: ignore[arg-type]


def test_validation_takes_a_small_part_of_the_work() -> None:
    for layouts in (4_000, 30_000, 1_000_000):
        looks = plan_looks(layouts, 20)
        assert looks.times * looks.effort <= 0.045 * layouts
    pace = Pace(Budget(minutes=10), 64, 100, finishing=0.1)
    pace.begin(Clock(1, 2.0))
    clock = Clock(21, 6.0)  # five steps a second
    assert pace.left(clock) == pytest.approx(9 * 60 - 6)
    assert pace.total_steps(clock) == pytest.approx(21 + 5 * 534)
    assert "320 layouts a second in bf16: about 9 minutes to go" in pace.in_words(clock, "bf16")


def test_a_full_disk_costs_lines_of_the_metrics_but_not_the_run(tmp_path: Path) -> None:
    heard = Heard()
    trainer = make_trainer(RECIPES["recipe"], tmp_path, watcher=heard)
    metrics = MetricsFile(tmp_path, step=0, tensorboard=False, notice=heard.notice)
    whole = metrics.path
    trainer._evaluate(metrics)
    metrics.path = Path("/dev/full")  # every write to it fails as on a full disk
    trainer._evaluate(metrics)
    trainer._evaluate(metrics)
    assert len(heard.notices) == 1
    assert "No space left on device); training goes on" in heard.notices[0]
    metrics.path = whole
    with whole.open("a") as stream:
        stream.write('{"kind": "validat')  # what was still written when the disk became full
    trainer._evaluate(metrics)
    assert len(read_metrics(whole)) == 2


def test_tensorboard_on_request(tmp_path: Path) -> None:
    settings = RECIPES["plain"].changed("budget", steps=2)
    make_trainer(settings, tmp_path, tensorboard=True).run()
    assert list((tmp_path / "tensorboard").iterdir())


def test_phases_follow_from_the_share_of_the_budget() -> None:
    recipe = Recipe(apart_from=0.6)
    assert [recipe.phase(done) for done in (0.0, 0.59)] == ["plain"] * 2
    assert [recipe.phase(done) for done in (0.6, 1.0)] == ["apart"] * 2
    assert Recipe(apart=0.0).phase(1.0) == "plain"
