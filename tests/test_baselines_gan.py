"""LayoutGAN++ and CLG-LO: networks with known answers, relations that are made to hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import baseline_cases as cases
from layoutdm.baselines.clg import CLG, KINDS, CLGOptions, Problem, kind_of, solve
from layoutdm.baselines.common import Common
from layoutdm.baselines.layoutgan import LayoutGAN, LayoutGANOptions
from layoutdm.baselines.learn.system import SystemLearner
from layoutdm.baselines.session import Session
from layoutdm.diffusion.streams import stream
from layoutdm.errors import LayoutdmError
from layoutdm.relations import CANVAS, CANVAS_NAMES, ELEMENT_NAMES, PAPER_NAMES
from layoutdm.spec import Condition, Spec
from layoutdm.tokens import Tokenizer, uniform_bins
from layoutdm.train.settings import Budget
from layoutdm.train.trainer import Trainer

COMMON = Common(Tokenizer(("a", "b"), uniform_bins(4), 6), histogram=np.ones(6))
RELATIONS: dict[str, Any] = {
    "elements": [{"name": "one", "label": "a"}, {"name": "two", "label": "b"}],
    "relations": [
        {"of": "two", "is": "below", "to": "one"},
        {"of": "one", "is": "larger", "to": "two"},
        {"of": "one", "is": "top", "to": "canvas"},
    ],
}


def condition(spec: dict[str, Any]) -> Condition:
    return Condition.from_spec(Spec.parse(spec), ("a", "b"), 6)


def squashed(**inputs: Any) -> tuple[Any, ...]:
    """Boxes are the sigmoid of the latents."""
    return (1 / (1 + np.exp(-inputs["latent"])),)


def indifferent(**inputs: Any) -> tuple[Any, ...]:
    return (np.zeros(len(inputs["boxes"]), np.float32),)


def test_layoutgan_gives_each_element_its_own_noise_and_keeps_sizes() -> None:
    system = LayoutGAN(COMMON, squashed)
    asked = condition({"elements": [{"label": "a"}, {"label": "b", "width": 0.3, "height": 0.2}]})
    drawn = system.draw([asked], LayoutGANOptions(), [stream(4, 0)])
    noise = stream(4, 0).standard_normal((2, 4))
    np.testing.assert_allclose(drawn.box[0, 0], 1 / (1 + np.exp(-noise[0])), atol=1e-6)
    np.testing.assert_allclose(drawn.box[0, 1, 2:], [0.3, 0.2])
    assert drawn.label[0][drawn.mask[0]].tolist() == [0, 1]


def test_layoutgan_needs_all_labels() -> None:
    system = LayoutGAN(COMMON, squashed)
    assert "label" in str(system.refuses(condition({})))
    assert "label" in str(system.refuses(condition({"elements": [{"width": 0.5}]})))
    assert system.refuses(condition({"elements": [{"label": "a"}]})) is None
    assert "relations" in str(system.refuses(condition(RELATIONS)))


def test_clg_makes_relations_hold() -> None:
    system = CLG(COMMON, squashed, indifferent)
    asked = condition(RELATIONS)
    assert system.refuses(asked) is None
    drawn = system.draw([asked], CLGOptions(), [stream(1, 0)])
    assert Problem(asked, squashed, indifferent).missed(drawn.box[:, :2]).max() < 1e-4


def test_clg_leaves_a_layout_alone_that_is_right_from_the_start() -> None:
    asked = condition(RELATIONS)
    problem = Problem(asked, squashed, indifferent)
    start = np.array([0.0, -1.5, 1.0, -1.0, 0.0, 1.5, -1.0, -1.0])
    assert not problem.missed(problem.boxes(start[None])).any()

    def never(goal: Any, latent: Any) -> Any:
        raise AssertionError("there is nothing to search for")

    assert solve(problem, start, never, rounds=5) is start


def test_realism_may_not_get_worse_but_need_not_get_better() -> None:
    asked = condition({**RELATIONS, "relations": RELATIONS["relations"][2:]})

    def likes_low(**inputs: Any) -> tuple[Any, ...]:  # real is what lies at the bottom
        return (20 * (inputs["boxes"][:, 0, 1] - 0.6),)

    problem = Problem(asked, squashed, likes_low)
    start = np.array([0.0, 0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    seen: list[float] = []

    def look(goal: Any, latent: Any) -> Any:
        seen.extend(goal(np.array([latent, latent + 0.0 * latent])).tolist())
        better = latent.copy()
        better[1] += 1.0
        seen.append(float(goal(better[None])[0]) - goal.penalty / 2 * 0)
        return latent

    solve(problem, start, look, rounds=1)
    missed = problem.missed(problem.boxes(start[None])).sum()
    assert seen[0] == pytest.approx(missed**2 / 2, rel=1e-6)  # nothing is lost at the start
    assert seen[0] == seen[1]


def test_every_kind_of_relation_has_a_cost_of_its_own() -> None:
    kinds = {kind_of(int(code), 0) for code in ELEMENT_NAMES.values()}
    kinds |= {kind_of(int(code), CANVAS) for code in CANVAS_NAMES.values()}
    assert kinds == set(range(KINDS))
    of_the_paper = {kind_of(int(code), 0) for code in PAPER_NAMES}
    thirds_and_sizes = ("top", "middle", "bottom", "smaller", "equal_size", "larger")
    of_the_paper |= {kind_of(int(CANVAS_NAMES[name]), CANVAS) for name in thirds_and_sizes}
    assert len(of_the_paper) == 14


def test_clg_says_what_it_needs() -> None:
    system = CLG(COMMON, squashed, indifferent)
    assert "label" in str(system.refuses(condition({})))
    alone = condition({"elements": [{"label": "a"}]})  # no relations: as LayoutGAN++ has it
    drawn = system.draw([alone], CLGOptions(), [stream(2, 0)])
    noise = stream(2, 0).standard_normal(4)
    np.testing.assert_allclose(drawn.box[0, 0], 1 / (1 + np.exp(-noise)), atol=1e-6)
    with pytest.raises(LayoutdmError, match="cma or adam"):
        CLGOptions(inner="sgd")  # type: ignore[arg-type]


def test_adam_and_cma_search_the_same_space() -> None:
    model = cases.model("clg-lo")
    spec = Spec.from_layout(max(cases.pages(), key=len), task="relation")
    asked = Condition.from_spec(spec, model.labels, model.max_elements)
    system = model.generator
    for inner in ("cma", "adam"):
        options = replace(system.usual("relation"), inner=inner, iterations=40, rounds=2)
        drawn = system.draw([asked], options, [stream(0, 0)])
        problem = Problem(asked, system.network, system.judge)
        start = stream(0, 0).standard_normal(4 * len(asked))
        before = problem.missed(problem.boxes(start[None])).sum()
        after = problem.missed(drawn.box[:, : len(asked)]).sum()
        assert after < before


def test_exported_files_equal_the_networks() -> None:
    made, folder = cases.strong("layoutgan++"), cases.exported("layoutgan++")
    batch = made.make(made.train, np.arange(6), np.random.default_rng(0))
    sizes = batch["boxes"][..., 2:] * batch["given"][..., None]
    inputs = {key: batch[key] for key in ("latent", "labels", "valid")}
    inputs |= {"sizes": sizes, "given": batch["given"]}
    with torch.no_grad():
        wanted = made.module["generator"](*inputs.values())
        logits = made.module["judge"](wanted, batch["labels"], batch["valid"]).numpy()
    session = Session(folder / "generator.onnx", 1)
    (got,) = session(**{key: value.numpy() for key, value in inputs.items()})
    np.testing.assert_allclose(got, wanted.numpy(), atol=2e-5)
    judge = Session(folder / "discriminator.onnx", 1)
    feed = {"boxes": wanted, "labels": batch["labels"], "valid": batch["valid"]}
    (found,) = judge(**{key: value.numpy() for key, value in feed.items()})
    np.testing.assert_allclose(found, logits, atol=2e-4)


def distance_to_the_nearest(made: SystemLearner, module: torch.nn.Module) -> float:
    """Mean absolute difference of drawn boxes from the nearest layout with the same labels."""
    batch = dict(made.make(made.val, np.arange(len(made.val)), np.random.default_rng(0)))
    nothing = torch.zeros_like(batch["given"])
    labels, valid, real = batch["labels"], batch["valid"], batch["boxes"]
    with torch.no_grad():
        boxes = module["generator"].eval()(  # type: ignore[index, operator]
            batch["latent"], labels, valid, torch.zeros(*valid.shape, 2), nothing
        )
    found = []
    for i in range(len(labels)):
        same = (valid == valid[i]).all(dim=1) & (labels == labels[i]).all(dim=1)
        apart = (real[same] - boxes[i]).abs()[:, valid[i]]
        found.append(float(apart.mean(dim=(1, 2)).min()))
    return float(np.mean(found))


@pytest.mark.slow
def test_generator_and_discriminator_learn_ten_layouts(tmp_path: Path) -> None:
    made = cases.learner("layoutgan++", cases.pages(10))
    far, forgotten = distance_to_the_nearest(made, made.module), cases.memory_loss(made)
    moves = replace(made.recipe.short, learning_rate=1e-3)
    budget = Budget(steps=150, batch_size=16, precision="fp32", validations=1)
    run = Trainer(made, moves, budget, tmp_path)
    run.run()
    assert distance_to_the_nearest(made, run.state.average) < 0.45 * far
    assert cases.memory_loss(made) < 0.1 * forgotten
