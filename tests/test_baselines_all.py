"""What holds for every system of the paper, through the interface that all share."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import baseline_cases as cases
from layoutdm.baselines.learn.transformer import parameters
from layoutdm.baselines.systems import SYSTEMS, facts_of
from layoutdm.errors import LayoutdmError
from layoutdm.spec import TASKS, Spec
from layoutdm.train.learner import Moment

NAMES = tuple(SYSTEMS)
CASES = [(name, task) for name in NAMES for task in facts_of(name).tasks]


def request(task: str) -> Spec:
    longest = max(cases.pages(), key=len)  # short layouts have no relations to sample
    return Spec.from_layout(longest, task=task)


@pytest.mark.parametrize(("name", "task"), CASES)
def test_each_task_gives_layouts_that_honour_what_is_given(name: str, task: str) -> None:
    spec = request(task)
    for result in cases.model(name).generate(spec, count=4, **cases.FAST.get(name, {})):
        layout = result.layout
        assert 1 <= len(layout) <= cases.MOST
        if task != "unconditional":
            assert layout.labels[: len(spec.elements)] == tuple(e.label for e in spec.elements)
        if task not in ("unconditional", "completion"):
            assert len(layout) == len(spec.elements)
        for element, box in zip(spec.elements, layout.boxes, strict=False):
            for value, got in zip(
                (element.x, element.y, element.width, element.height), box, strict=True
            ):
                if isinstance(value, float):
                    assert got == value


@pytest.mark.parametrize("name", NAMES)
def test_what_a_system_cannot_do_is_refused_in_one_sentence(name: str) -> None:
    possible = {*facts_of(name).tasks}
    if "relation" in possible:  # without relations the same request is one of labels, or of sizes
        possible |= {"c", "cwh"}
    for task in TASKS:
        if task in possible:
            continue
        with pytest.raises(LayoutdmError) as error:
            cases.model(name).generate(request(task), count=1)
        sentence = str(error.value)
        assert name.split("-")[0] in sentence and "\n" not in sentence


@pytest.mark.parametrize(("name", "task"), CASES)
def test_a_layout_does_not_depend_on_its_neighbours(name: str, task: str) -> None:
    model = cases.model(name)
    long = [page for page in cases.pages() if len(page) > 3][:5]  # short ones have no relations
    specs = [Spec.from_layout(page, task=task) for page in long]
    fast = cases.FAST.get(name, {})
    together = model.draw_many([(spec, 3, i) for i, spec in enumerate(specs)], **fast)
    alone = [model.draw_many([(spec, 3, i)], **fast)[0] for i, spec in enumerate(specs)]
    for one, other in zip(together, alone, strict=True):
        assert one.layout.labels == other.layout.labels
        np.testing.assert_allclose(one.layout.boxes, other.layout.boxes, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_layout_and_another_another(name: str) -> None:
    model, spec = cases.model(name), request(facts_of(name).tasks[0])
    fast = cases.FAST.get(name, {})
    one, again, other = (
        [
            result.layout.boxes.tolist()
            for result in model.generate(spec, count=3, seed=seed, **fast)
        ]
        for seed in (1, 1, 2)
    )
    assert one == again
    assert one != other


@pytest.mark.parametrize("name", NAMES)
def test_a_run_that_is_stopped_goes_on_exactly(name: str, tmp_path: Path) -> None:
    whole = cases.trainer(cases.learner(name), tmp_path / "whole", 6)
    whole.run()
    count = iter(range(100))
    part = cases.trainer(cases.learner(name), tmp_path / "part", 6, stop=lambda: next(count) >= 3)
    assert not part.run().complete
    rest = cases.trainer(cases.learner(name), tmp_path / "part", 6)
    assert rest.run().complete
    for (key, a), b in zip(
        whole.learner.module.state_dict().items(),
        rest.learner.module.state_dict().values(),
        strict=True,
    ):
        assert torch.equal(a, b), key


@pytest.mark.parametrize("name", NAMES)
def test_batches_follow_from_the_generator_and_validation_repeats(name: str) -> None:
    made = cases.learner(name)
    layouts = np.arange(8)
    one, two = (made.batch(layouts, np.random.default_rng(5), Moment(0, 0.0)) for _ in range(2))
    assert all(torch.equal(one[key], two[key]) and len(one[key]) == 8 for key in one)
    made.module.eval()
    assert made.validate(made.module, 64).bound == made.validate(made.module, 64).bound


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_ten_layouts_are_learned(name: str, tmp_path: Path) -> None:
    made = cases.learner(name, cases.pages(10))
    before = cases.memory_loss(made)
    cases.trainer(made, tmp_path, 150, cases.RATES.get(name, 3e-3)).run()
    assert cases.memory_loss(made) < 0.6 * before


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_published_size_has_the_parameters_of_the_papers_table(name: str) -> None:
    count = cases.rico_parameters(name)
    assert round(count / 1e6, 1) == pytest.approx(facts_of(name).parameters[0], abs=0.051)


def test_the_run_half_never_imports_torch() -> None:
    code = (
        "import sys, importlib, pkgutil, layoutdm.baselines as room\n"
        "for part in pkgutil.iter_modules(room.__path__):\n"
        "    if part.name != 'learn':\n"
        "        importlib.import_module(f'layoutdm.baselines.{part.name}')\n"
        "assert 'torch' not in sys.modules and 'onnxruntime' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_system_is_told() -> None:
    with pytest.raises(LayoutdmError, match="layouttrans"):
        facts_of("nonsense")


def test_parameters_counts_what_is_learned() -> None:
    assert parameters(torch.nn.Linear(2, 3)) == 9
