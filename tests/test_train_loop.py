"""The loop in one process: learns, repeats exactly, resumes exactly, validates without a trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from layoutdm.errors import LayoutdmError
from layoutdm.tokens import Tokenizer, uniform_bins
from layoutdm.train.config import TrainConfig, preset
from layoutdm.train.corpus import pack
from layoutdm.train.networks import build
from layoutdm.train.optim import Plateau, decayed, make_optimizers, rate_factor
from layoutdm.train.reporter import MetricsFile, Silent, read_metrics
from layoutdm.train.trainer import Trainer
from layoutdm.train.validation import Validation
from training_samples import LABELS, make_layouts

TOKENIZER = Tokenizer(LABELS, uniform_bins(8), 8)
TRAIN, VAL = pack(make_layouts(60, 1), TOKENIZER), pack(make_layouts(16, 2), TOKENIZER)
SMALL = {"width": 16, "layers": 1, "heads": 2, "feedforward": 32, "max_elements": 8,
         "batch_size": 16, "validate_steps": 4, "validate_levels": 2, "steps": 10}  # fmt: skip

RECIPES = {
    "element": preset("tiny", **{**SMALL, "ordered": 0.5}),
    "in turns": preset(
        "tiny", **{**SMALL, "ordered": 0.5, "in_sequence": 0.7, "next_element": 0.5, "clear": 0.2}
    ),
    "muon": preset("tiny", **{**SMALL, "optimizer": "muon", "times": "uniform"}),
    "paper": preset("paper", **{**SMALL, "times": "importance", "schedule_steps": 4}),
}


class Notes(Silent):
    def __init__(self) -> None:
        self.notices: list[str] = []

    def notice(self, text: str) -> None:
        self.notices.append(text)


def make_trainer(
    config: TrainConfig, folder: Path, stop: Callable[[], bool] = lambda: False, **options: object
) -> Trainer:
    torch.manual_seed(config.seed)
    network = build(config.network_config(TOKENIZER))
    return Trainer(network, TRAIN, VAL, config, folder, stop=stop, **options)  # type: ignore[arg-type]


def after(steps: int) -> Callable[[], bool]:
    """A wish to stop that comes after so many steps."""
    asked = iter(range(10_000))
    return lambda: next(asked) >= steps


def weights(trainer: Trainer) -> list[torch.Tensor]:
    state = trainer.state
    return [*state.network.state_dict().values(), *state.average.state_dict().values(),
            *state.best.values(), state.times.history, state.times.seen]  # fmt: skip


def same(one: Trainer, two: Trainer) -> bool:
    return all(torch.equal(a, b) for a, b in zip(weights(one), weights(two), strict=True))


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_run_that_was_stopped_ends_as_one_that_was_not(recipe: str, tmp_path: Path) -> None:
    config = RECIPES[recipe]
    whole = make_trainer(config, tmp_path / "whole")
    counters = whole.run()
    assert counters.finished
    assert counters.step == 10
    for steps in (3, 4):  # stopped twice, once between validations
        stopped = make_trainer(config, tmp_path / "parts", after(steps)).run()
        assert not stopped.finished
    notes = Notes()
    resumed = make_trainer(config, tmp_path / "parts", watcher=notes)
    resumed.run()
    assert notes.notices == ["going on from step 7"]
    assert same(whole, resumed)
    one, two = (read_metrics(tmp_path / name / "metrics.jsonl") for name in ("whole", "parts"))
    bounds = [[(e["step"], e["bound"]) for e in m if e["kind"] == "validation"] for m in (one, two)]
    assert bounds[0] == bounds[1]
    assert [step for step, _ in bounds[0]] == [4, 8, 10]


def test_the_seed_decides_everything(tmp_path: Path) -> None:
    config = RECIPES["element"]
    one, two = (make_trainer(config, tmp_path / name) for name in ("a", "b"))
    other = make_trainer(replace(config, seed=1), tmp_path / "c")
    for trainer in (one, two, other):
        trainer.run()
    assert same(one, two)
    assert not same(one, other)


@pytest.mark.slow
def test_training_lowers_the_bound(tmp_path: Path) -> None:
    config = replace(RECIPES["element"], steps=100, learning_rate=1e-2, validate_steps=50)
    trainer = make_trainer(config, tmp_path)
    before = trainer.validation.bound(trainer.state.average, trainer.schedule)
    trainer.run()
    after_training = trainer.state.counters.best_bound
    assert after_training < 0.7 * before.nats
    assert (
        after_training
        == trainer.validation.bound(trainer.state.best_network(), trainer.schedule).nats
    )


@pytest.mark.parametrize("recipe", ["element", "paper"])
def test_validation_repeats_and_leaves_no_trace(recipe: str, tmp_path: Path) -> None:
    trainer = make_trainer(RECIPES[recipe], tmp_path)
    trainer._step()
    before = [value.clone() for value in weights(trainer)]
    torch.manual_seed(5)
    state = torch.get_rng_state()
    first = trainer.validation.bound(trainer.state.average, trainer.schedule)
    second = trainer.validation.bound(trainer.state.average, trainer.schedule)
    assert first == second
    assert torch.equal(state, torch.get_rng_state())
    assert all(torch.equal(a, b) for a, b in zip(before, weights(trainer), strict=True))
    assert (first.number > 0) == (recipe == "element")
    per_attribute = first.nats * len(VAL) / (5 * VAL.counts.sum()) / 0.6931471805599453
    assert first.bits == pytest.approx(float(per_attribute))


def test_the_bound_does_not_depend_on_how_processes_share_it() -> None:
    config = RECIPES["element"]
    validation = Validation.create(pack(make_layouts(300, 3), TOKENIZER), config)
    torch.manual_seed(0)
    network, schedule = build(config.network_config(TOKENIZER)), config.noise_schedule()
    whole = validation.bound(network, schedule)
    sums: list[torch.Tensor] = []
    for rank in range(2):
        validation.bound(
            network, schedule, share=(rank, 2), total=lambda x: (sums.append(x.clone()), x)[1]
        )
    both = validation.bound(network, schedule, share=(0, 2), total=lambda x: sums[0] + sums[1])
    assert both.nats == pytest.approx(whole.nats, rel=1e-12)


def test_a_budget_of_minutes_counts_over_resumed_parts(tmp_path: Path) -> None:
    config = replace(RECIPES["element"], steps=None, minutes=0.02)
    first = make_trainer(config, tmp_path, after(2)).run()
    assert 0 < first.seconds < 1.2 + 5
    trainer = make_trainer(config, tmp_path)
    trainer.run()
    assert trainer.state.counters.seconds >= 1.2
    assert trainer.state.counters.finished


def test_early_stopping(tmp_path: Path) -> None:
    config = replace(RECIPES["element"], learning_rate=1e-12, ema=0.0, validate_steps=1,
                     patience=2, steps=50)  # fmt: skip
    counters = make_trainer(config, tmp_path).run()
    assert counters.finished
    assert counters.step < 50
    assert counters.waited == 2


def test_other_data_cannot_be_resumed(tmp_path: Path) -> None:
    config = RECIPES["element"]
    make_trainer(config, tmp_path, after(1)).run()
    other = Trainer(build(config.network_config(TOKENIZER)), VAL, VAL, config, tmp_path)
    with pytest.raises(LayoutdmError, match="made with other data"):
        other.run()


def test_a_loss_that_is_not_a_number_is_said(tmp_path: Path) -> None:
    trainer = make_trainer(RECIPES["element"], tmp_path)
    with torch.no_grad():
        next(trainer.state.network.parameters()).fill_(float("nan"))
    with pytest.raises(LayoutdmError, match="the loss became nan at step 0"):
        trainer.run()


def test_only_weights_of_linear_layers_decay() -> None:
    for config in RECIPES.values():
        network = build(config.network_config(TOKENIZER))
        assert isinstance(network, torch.nn.Module)
        decaying = decayed(network)
        names = {name for name, value in network.named_parameters() if id(value) in decaying}
        assert all(name.endswith(".weight") for name in names)
        assert not any(word in name for name in names for word in ("embed", "norm1.table", "first"))
        groups = [group for optimizer in make_optimizers(network, config)
                  for group in optimizer.param_groups]  # fmt: skip
        assert sum(len(group["params"]) for group in groups) == len(list(network.parameters()))
        for group in groups:
            inside = {id(value) in decaying for value in group["params"]}
            assert inside == {group["weight_decay"] > 0}


def test_learning_rates() -> None:
    cosine = preset("element", warmup_steps=10)
    assert rate_factor(cosine, 0, 0.0, Plateau()) == pytest.approx(0.1)
    assert rate_factor(cosine, 50, 0.5, Plateau()) == pytest.approx(0.51)
    assert rate_factor(cosine, 99, 1.0, Plateau()) == pytest.approx(0.02)
    plateau, config = Plateau(), preset("paper")
    for bound in (10.0, 9.0, 8.95, 8.95, 8.95):
        plateau.update(bound)
    assert rate_factor(config, 5, 0.9, plateau) == 0.5
    assert rate_factor(preset("tiny", learning_rate_schedule="constant"), 99, 0.9, plateau) == 1


def test_a_full_disk_costs_lines_of_the_metrics_but_not_the_run(tmp_path: Path) -> None:
    notes = Notes()
    trainer = make_trainer(RECIPES["element"], tmp_path, watcher=notes)
    metrics = MetricsFile(tmp_path, step=0, tensorboard=False, notice=notes.notice)
    whole = metrics.path
    trainer._evaluate(metrics)
    metrics.path = Path("/dev/full")  # every write to it fails as on a full disk
    trainer._evaluate(metrics)
    trainer._evaluate(metrics)
    assert len(notes.notices) == 1
    assert "No space left on device); training goes on" in notes.notices[0]
    metrics.path = whole
    with whole.open("a") as stream:
        stream.write('{"kind": "validat')  # what was still written when the disk became full
    trainer._evaluate(metrics)
    assert len(read_metrics(whole)) == 2


def test_tensorboard_on_request(tmp_path: Path) -> None:
    make_trainer(replace(RECIPES["element"], steps=2), tmp_path, tensorboard=True).run()
    assert list((tmp_path / "tensorboard").iterdir())
